"""`Explanation`: which column of a set is explained by which."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from covary.formatting import distinct_texts, printable

# A step shows at most this many cut points.
MAX_CUTS_SHOWN = 5


@dataclass(frozen=True)
class Step:
    """One column explained by the columns before it.

    Parameters
    ----------
    target : str
        The column that is explained.
    given : tuple of str
        The columns before it, in order.
    explained : float
        The explained fraction of the target's cumulative entropy, 0 to 1.
    by : tuple of str
        Those of ``given`` that explain something: columns that are cut, or have missing cells.
    bins : int
        The largest number of bins of a column in ``by``, not counting missing cells; with
        `covary.UDS`, of the last column in ``given``.
    cuts : dict of tuple
        By column, its cut points in the column's own units: the largest value of each bin except
        the last. With `covary.UDS`, where the last column in ``given`` was cut. Otherwise a few
        cut points that say most about the target.
    missing : int
        The number of missing cells of these columns. Missing cells form a bin of their own.
    rows : int
        The number of rows in which the target is present.
    alone : tuple of float
        The fraction that each column in ``by`` explains alone, if the measure computes it.
    """

    target: str
    given: tuple[str, ...]
    explained: float
    by: tuple[str, ...]
    bins: int
    cuts: Mapping[str, tuple[Any, ...]]
    missing: int
    rows: int
    alone: tuple[float, ...] = ()

    def __str__(self) -> str:
        target = printable(self.target)
        if not self.by:
            return f"{target}: nothing explained"
        by = " and ".join(map(printable, self.by))
        details = self.details()
        suffix = f" ({details})" if details else ""
        return f"{target}: {self.explained:.4f} explained by {by}{suffix}"

    def details(self, most: int = MAX_CUTS_SHOWN) -> str:
        """Return bins, at most this many cut points, and what each column explains alone."""
        words = []
        if len(self.alone) > 1:
            words.append(f"{self.bins} x {self.bins} bins")
            for column, alone in zip(self.by, self.alone, strict=True):
                words.append(f"{printable(column)} alone {alone:.4f}")
        elif self.alone:
            words.append(f"{self.bins} bins")
        if len(self.alone) < 2:
            words += self._describe_cuts(most)
        words += [f"{self.missing} missing cells as a bin"] if self.missing else []
        return "; ".join(words)

    def _describe_cuts(self, most: int) -> list[str]:
        words = []
        for column in (c for c in self.cuts if c in self.by and self.cuts[c]):
            cuts = distinct_texts(self.cuts[column])
            if len(cuts) <= most or not self.alone:
                shown = cuts[:most] + ["..."] * (len(cuts) > most)
                subject = "best" if self.alone else printable(column)
                noun = "cut" if len(cuts) == 1 else "cuts"
                words.append(f"{subject} {noun} at {', '.join(shown)}")
        return words


@dataclass(frozen=True)
class Explanation:
    """A score with the steps that it consists of; ``str()`` describes them.

    Parameters
    ----------
    score : float
        The score of the set.
    order : tuple of str
        The columns in the order in which they explain each other.
    steps : tuple of Step
        One step for every column except the first.
    measure : str
        The name of the measure.
    rows : int
        The number of rows of the table.
    """

    score: float
    order: tuple[str, ...]
    steps: tuple[Step, ...]
    measure: str
    rows: int

    def __str__(self) -> str:
        order = " -> ".join(map(printable, self.order))
        heading = f"{self.measure} = {self.score:.4f} for {order}"
        return "\n  ".join([heading, *map(str, self.steps)])

    def relabelled(self, labels: Mapping[str, Any]) -> Explanation:
        """Return the same explanation with other labels for the columns."""

        def relabel(names: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(labels.get(name, name) for name in names)

        steps = [
            dataclasses.replace(
                step,
                target=labels.get(step.target, step.target),
                given=relabel(step.given),
                by=relabel(step.by),
                cuts={labels.get(name, name): cuts for name, cuts in step.cuts.items()},
            )
            for step in self.steps
        ]
        return dataclasses.replace(self, order=relabel(self.order), steps=tuple(steps))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON types; cut points keep their own type.

        ``given`` is left out: it contains the columns before the target in ``order``.
        """
        steps = []
        for step in self.steps:
            fields = {f.name: getattr(step, f.name) for f in dataclasses.fields(step)}
            del fields["given"]
            fields["cuts"] = {column: list(cuts) for column, cuts in step.cuts.items()}
            steps.append({k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()})
        return {
            "measure": self.measure,
            "score": self.score,
            "rows": self.rows,
            "order": list(self.order),
            "steps": steps,
        }
