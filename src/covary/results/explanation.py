"""`Explanation`: which column of a set is explained by which."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from covary.formatting import counted, distinct_texts, listing, printable, shown_value

# A step shows at most this many cut points.
MAX_CUTS_SHOWN = 5


class Cell(NamedTuple):
    """A part of the rows in which the target is different.

    Parameters
    ----------
    where : by column, the values of these rows in words
    rows : the number of rows
    target : how the target differs from all rows, in words
    """

    where: Mapping[str, str]
    rows: int
    target: str

    def __str__(self) -> str:
        return f"{self.place()}: {printable(self.target)}, {counted(self.rows, 'row')}"

    def place(self) -> str:
        """Return where these rows are, in words."""
        parts = self.where.items()
        return ", ".join(f"{printable(name)} {printable(part)}" for name, part in parts)


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
        The number of bins of the column in ``by``, not counting missing cells; 0 if there are
        several columns. With `covary.UDS`, of the last column in ``given``.
    cuts : dict of tuple
        By column, its cut points in the column's own units: the largest value of each bin except
        the last. Of a nominal column, groups of its levels. With `covary.UDS`, where the last
        column in ``given`` was cut. Otherwise a few cut points that say most about the target.
    missing : int
        The number of missing cells of these columns, in the rows in which the target is present.
        Missing cells form a bin of their own.
    rows : int
        The number of rows in which the target is present.
    alone : tuple of float
        The fraction that each column in ``by`` explains alone, if the measure computes it.
    adds : tuple of float
        The fraction that each column in ``by`` explains beyond the other columns in ``by``: of
        what these leave unexplained.
    cells : int
        The number of cells of several columns in ``by``; 0 if there is one column.
    profile : tuple of Cell
        How the target differs between groups of rows, if the target or a column in ``by`` has
        named values.
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
    adds: tuple[float, ...] = ()
    cells: int = 0
    profile: tuple[Cell, ...] = ()

    def __str__(self) -> str:
        target = printable(self.target)
        if not self.by:
            return f"{target}: nothing explained"
        by = listing(self.by)
        details = self.details()
        suffix = f" ({details})" if details else ""
        return f"{target}: {self.explained:.4f} explained by {by}{suffix}"

    def details(self, most: int = MAX_CUTS_SHOWN) -> str:
        """Return bins and cut points, or what each column explains alone and beyond the others."""
        words = [
            f"{printable(column)} alone {alone:.4f}, adds {adds:.4f}"
            for column, alone, adds in self.contributions()
        ]
        if not words:
            words = [f"{self.bins} bins"] if self.alone else []
            words += self._describe_cuts(most)
        return "; ".join([*words, *self.note_on_missing()])

    def contributions(self) -> list[tuple[str, float, float]]:
        """Return what each of several columns explains alone and adds, the largest first.

        It is empty if there is one column, or if the measure does not compute it.
        """
        if len(self.alone) < 2:
            return []
        contributions = zip(self.by, self.alone, self.adds, strict=True)
        return sorted(contributions, key=lambda each: -each[2])

    def note_on_missing(self) -> list[str]:
        """Return a note on missing cells, if there are any."""
        return [f"{self.missing:,} missing cells as a bin"] if self.missing else []

    def _describe_cuts(self, most: int) -> list[str]:
        words = []
        for column in (c for c in self.cuts if c in self.by and self.cuts[c]):
            if isinstance(self.cuts[column][0], tuple):
                words.append(f"best groups {_describe_groups(self.cuts[column], most)}")
                continue
            cuts = distinct_texts(self.cuts[column])
            if len(cuts) <= most or not self.alone:
                shown = cuts[:most] + ["..."] * (len(cuts) > most)
                subject = "best" if self.alone else printable(column)
                noun = "cut" if len(cuts) == 1 else "cuts"
                words.append(f"{subject} {noun} at {', '.join(shown)}")
        return words


def _json_cuts(cuts: Sequence[Any]) -> list[Any]:
    """Return cut points, or groups of labels as lists; labels that are no JSON are text."""
    return [
        [label if isinstance(label, (bool, int)) else str(label) for label in cut]
        if isinstance(cut, tuple)
        else cut
        for cut in cuts
    ]


def _describe_groups(groups: Sequence[Sequence[Any]], most: int) -> str:
    """Return groups of levels in words."""
    texts = []
    for group in groups[:most]:
        shown = [printable(shown_value(label)) for label in group[:most]]
        shown += ["..."] * (len(group) > most)
        texts.append(f"{{{', '.join(shown)}}}")
    return " ".join([*texts, *["..."] * (len(groups) > most)])


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
    target : str or None
        The column that the others explain, if there is one. It is the last in ``order``, and has
        the only step.
    given : tuple of str
        The columns beyond which the score counts. The step includes them.
    """

    score: float
    order: tuple[str, ...]
    steps: tuple[Step, ...]
    measure: str
    rows: int
    target: str | None = None
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        heading = f"{self.measure} = {self.score:.4f} {self.summary()}"
        lines = [heading]
        for step in self.marked_steps():
            lines += [f"  {step}", *(f"    {cell}" for cell in step.profile)]
        return "\n".join(lines)

    def marked_steps(self) -> tuple[Step, ...]:
        """Return the steps, with "(given)" after the names of given columns."""
        return self.relabelled({name: f"{name} (given)" for name in self.given}).steps

    def summary(self) -> str:
        """Return what the score is about."""
        if self.target is None:
            return f"for {' -> '.join(map(printable, self.order))}"
        by = [name for name in self.steps[0].by if name not in self.given]
        beyond = f" beyond {listing(self.given)}" if self.given else ""
        if not by or self.score == 0.0:
            return f"(nothing explains {printable(self.target)}{beyond})"
        verb = "explains" if len(by) == 1 else "explain"
        share = f"{100 * self.score:.0f} %" if self.score >= 0.01 else f"{100 * self.score:.1g} %"
        return f"({listing(by)} {verb} {share} of {printable(self.target)}{beyond})"

    def relabelled(self, labels: Mapping[Any, Any]) -> Explanation:
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
                profile=tuple(
                    cell._replace(where={labels.get(n, n): part for n, part in cell.where.items()})
                    for cell in step.profile
                ),
            )
            for step in self.steps
        ]
        return dataclasses.replace(
            self,
            order=relabel(self.order),
            steps=tuple(steps),
            target=labels.get(self.target, self.target),
            given=relabel(self.given),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON types; cut points keep their own type.

        ``given`` is left out: it contains the columns before the target in ``order``.
        """
        steps = []
        for step in self.steps:
            fields = {f.name: getattr(step, f.name) for f in dataclasses.fields(step)}
            del fields["given"]
            fields["cuts"] = {column: _json_cuts(cuts) for column, cuts in step.cuts.items()}
            fields["profile"] = [cell._asdict() for cell in step.profile]
            steps.append({k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()})
        return {
            "measure": self.measure,
            "score": self.score,
            "rows": self.rows,
            "order": list(self.order),
            "target": self.target,
            "given": list(self.given),
            "steps": steps,
        }
