"""The options of a search, used by the Python function and the command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covary import errors
from covary.options import Options, option

# A finished search can be resumed to add tests. Therefore these options are stored separately.
TEST_OPTIONS = ("permutations", "seed")


@dataclass(frozen=True)
class SearchOptions(Options):
    """Options of `covary.search`, except measure, strategy and engine."""

    target: Any = option(
        None,
        "Search only sets that contain this column, and rank them by the fraction of it that the "
        "other columns explain. Sets that explain no more than a subset are left out.",
        kind="column",
    )
    given: Any = option(
        None,
        "Rank sets by the fraction of the target that they explain beyond these columns. Needs a "
        "target.",
        kind="columns",
    )
    top: int = option(100, "Number of sets to return.", minimum=1, flag="-t")
    prune: bool = option(
        False, "Leave out a set if a superset scores at least as high.", kind="flag"
    )
    sift: bool = option(
        False,
        "Leave out sets that may add nothing beyond a subset: keep only sets with evidence that "
        "every column is needed.",
        kind="flag",
    )
    permutations: int = option(
        0,
        "Test the significance of the sets with up to this many permutations each; 999 is usual, "
        "0 means no tests.",
        flag="-n",
    )
    seed: int = option(
        0, "Random seed for the permutations, and for a randomised measure given by name."
    )

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
