"""The options of a search, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covary import errors
from covary.options import Options, option

# A finished search may be resumed with tests. So these options are stored apart from the others.
TEST_OPTIONS = ("permutations", "seed")


@dataclass(frozen=True)
class SearchOptions(Options):
    """Options of `covary.search`, except measure, strategy and where it runs."""

    target: Any = option(
        None,
        "Search only sets that contain this column, and rank them by the fraction of it that the "
        "other columns explain. Sets that explain no more than a subset are left out.",
        kind="column",
    )
    top: int = option(100, "Number of sets to return.", minimum=1, flag="-t")
    prune: bool = option(
        False, "Leave out a set if a superset scores at least as high.", kind="flag"
    )
    sift: bool = option(
        False,
        "Leave out sets that add nothing beyond a subset, such as a strong pair with an unrelated "
        "column.",
        kind="flag",
    )
    permutations: int = option(
        0,
        "Test the significance of the sets with up to this many permutations each; 999 is usual, "
        "0 means no tests.",
        flag="-n",
    )
    seed: int = option(0, "Random seed for the permutations, and for a randomised measure.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prune and self.sift:
            raise errors.prune_and_sift()

    def search_facts(self) -> dict[str, Any]:
        """Return the options that decide which sets the search finds."""
        return {k: v for k, v in self.to_dict().items() if k not in TEST_OPTIONS}

    def test_facts(self) -> dict[str, Any]:
        """Return the options that decide how the sets are tested."""
        return {k: v for k, v in self.to_dict().items() if k in TEST_OPTIONS}
