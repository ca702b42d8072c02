"""`Explanation`: which column of a set is explained by which."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from covary.formatting import counted, distinct_texts, listing, printable, shown_value

# A step shows at most this many cut points.
MAX_CUTS_SHOWN = 5


# The name of a group of levels lists at most this many of them.
MAX_LEVELS_NAMED = 3
# A label with one of these could be taken for several labels.
_SEPARATORS = (",", ";", "|", "{", "}", " or ", " to ")


class Part(NamedTuple):
    """The values of a column in a cell; ``str()`` describes them.

    Parameters
    ----------
    levels : tuple
        The levels of a column with named values, or the only value of a number.
    above, up_to : number or date
        The values of a number or date are above the one and up to the other; None if unbounded.
    missing : bool
        Whether the cells of the column are missing.
    ordered : bool
        Whether the levels are neighbours in an order.
    more : int
        The number of levels that are not in ``levels``, because they have few rows.
    """

    levels: tuple[Any, ...] = ()
    above: Any = None
    up_to: Any = None
    missing: bool = False
    ordered: bool = False
    more: int = 0

    def __str__(self) -> str:
        if self.missing:
            return "missing"
        if self.levels or self.more:
            return self._describe_levels()
        cuts = [cut for cut in (self.above, self.up_to) if cut is not None]
        texts = dict(zip(cuts, distinct_texts(cuts), strict=True))
        if self.above is None:
            return "present" if self.up_to is None else f"up to {texts[self.up_to]}"
        to = "" if self.up_to is None else f" to {texts[self.up_to]}"
        return f"above {texts[self.above]}{to}"

    def _describe_levels(self) -> str:
        levels = self.levels
        if self.ordered and len(levels) > 1:
            return f"{level_name(levels[0])} to {level_name(levels[-1])}"
        named = [level_name(label) for label in levels[:MAX_LEVELS_NAMED]]
        more = len(levels) - len(named) + self.more
        return " or ".join([*named, *([f"{more} more"] if more else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON types."""
        fields = {name: value for name, value in self._asdict().items() if value}
        for name in fields.keys() & {"levels"}:
            fields[name] = _json_labels(self.levels)
        ends = {"above": self.above, "up_to": self.up_to}
        return fields | {name: end for name, end in ends.items() if end is not None}


class Cell(NamedTuple):
    """A part of the rows, and how the target differs there from all rows.

    Parameters
    ----------
    where : dict of Part
        By column, its values in these rows.
    rows : int
        The number of rows.
    median, overall_median
        The lower median of the target in these rows and in all rows, if it is a number, a date or
        an ordered category with more than two values.
    level
        Otherwise, the level that is most over-represented in these rows. Of a boolean, or a number
        with two values, the larger one.
    share, overall_share : float
        The share of this level in these rows, and in all rows.
    most_common, most_common_share
        The most common level in these rows and its share, if the target has more than two levels.
    """

    where: Mapping[str, Part]
    rows: int
    median: Any = None
    overall_median: Any = None
    level: Any = None
    share: float | None = None
    overall_share: float | None = None
    most_common: Any = None
    most_common_share: float | None = None

    def place(self) -> str:
        """Return where these rows are, in words."""
        parts = self.where.items()
        return ", ".join(f"{printable(name)} {printable(part)}" for name, part in parts)

    def overall(self) -> str:
        """Return the target in all rows, in words."""
        if self.overall_share is not None:
            return f"all rows: {percent(self.overall_share)}"
        return f"all rows: {distinct_texts([self.median, self.overall_median])[1]}"

    def tendency(self) -> str:
        """Return the median, or the share of the level, in words."""
        if self.share is not None:
            return percent(self.share)
        return f"median {distinct_texts([self.median, self.overall_median])[0]}"

    def note_on_most_common(self) -> str:
        """Return the most common level in words, unless it is the over-represented one."""
        if self.most_common_share is None or self.most_common == self.level:
            return ""
        return f"most common {quoted(self.most_common)} {percent(self.most_common_share)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON types; medians keep their own type."""
        fields = {name: value for name, value in self._asdict().items() if value is not None}
        for name in fields.keys() & {"level", "most_common"}:
            (fields[name],) = _json_labels((fields[name],))
        return {**fields, "where": {name: part.to_dict() for name, part in self.where.items()}}


def percent(share: float) -> str:
    """Return a fraction as text."""
    return f"{100 * share:.0f} %"


def level_name(label: Any) -> str:
    """Return a level as text: in quotes if it could be taken for several levels.

    Examples
    --------
    >>> level_name("Chad"), level_name("Hong Kong, China")
    ('Chad', '"Hong Kong, China"')

    """
    (text,) = distinct_texts([label])
    ambiguous = any(separator in text for separator in _SEPARATORS)
    return quoted(text) if ambiguous else shown_value(text)


def quoted(label: Any) -> str:
    """Return a text in quotes, and any other label as text."""
    if not isinstance(label, str):
        return distinct_texts([label])[0]
    shown = shown_value(label)
    return shown if shown == f'"{label}"' else f'"{shown}"'


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
    rows : int
        The number of rows in which the target is present; without the rows in which a column in
        ``by`` is missing, if these do not count.
    alone : tuple of float
        The fraction that each column in ``by`` explains alone, if the measure computes it.
    adds : tuple of float
        The fraction that each column in ``by`` explains beyond the other columns in ``by``: of
        what these leave unexplained.
    cells : int
        The number of cells of several columns in ``by``; 0 if there is one column.
    profile : tuple of Cell
        How the target differs between groups of rows, if the target or a column in ``by`` has
        named values. At most three columns form these groups.
    missing_as_bin : bool
        Whether missing cells form a bin of their own. Otherwise their rows do not count.
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
    missing_as_bin: bool = True

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
            words = [counted(self.bins, "bin")] if self.alone else []
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

    def describe(self, cell: Cell) -> str:
        """Return how the target differs in a cell from all rows, in words."""
        words = f"{cell.tendency()} ({cell.overall()})"
        if cell.level is not None and isinstance(cell.level, str):
            words = f"{quoted(cell.level)} {words}"
        elif cell.level is not None:
            words = f"{self.target} = {quoted(cell.level)}: {words}"
        note = cell.note_on_most_common()
        return printable(f"{words}, {note}" if note else words)

    def note_on_profile(self) -> list[str]:
        """Return which explaining columns the cells do not use, if there are any."""
        used = self.profile[0].where if self.profile else self.by
        unused = [name for name in self.by if name not in used]
        if not unused:
            return []
        verb = "is" if len(unused) == 1 else "are"
        return [f"these cells use {listing(list(used))}; {listing(unused)} {verb} needed as well"]

    def note_on_missing(self) -> list[str]:
        """Return a note on missing cells, if there are any."""
        if not self.missing:
            return []
        if self.missing_as_bin:
            return [f"{self.missing:,} missing cells as a bin"]
        return [f"{self.missing:,} missing cells do not count"]

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
    return [_json_labels(cut) if isinstance(cut, tuple) else cut for cut in cuts]


def _json_labels(labels: Sequence[Any]) -> list[Any]:
    return [label if isinstance(label, (bool, int, float)) else str(label) for label in labels]


def _describe_groups(groups: Sequence[Sequence[Any]], most: int) -> str:
    """Return groups of levels in words."""
    texts = []
    for group in groups[:most]:
        shown = [printable(level_name(label)) for label in group[:most]]
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
            lines.append(f"  {step}")
            for cell in step.profile:
                rows = counted(cell.rows, "row")
                lines.append(f"    {cell.place()}: {step.describe(cell)}, {rows}")
            lines += [f"    ({note})" for note in step.note_on_profile()]
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
            fields["profile"] = [cell.to_dict() for cell in step.profile]
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
