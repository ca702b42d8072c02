"""`Link`: a column of an overview and what explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covary.formatting import fraction_text, listing, printable, short_number
from covary.tail_probability import SMALLEST_PVALUE

# Kinds of links.
EXPLAINS = "explains"
GO_TOGETHER = "go together"
COPY = "copy"
FUNCTION = "function"
IDENTITY = "identity"
# Larger q-values are shown with their link; all others are summarised in one line.
CLEAR = 0.001
# What missing cells explain is shown from here on.
LEAST_MISSING = 0.005


@dataclass(frozen=True)
class Link:
    """A column and what explains it; ``str()`` is a sentence.

    Parameters
    ----------
    target : name
        The explained column.
    by : tuple
        The explaining columns, the one that explains most alone first.
    explained : float
        The fraction of the target that they explain together, 0 to 1. If two columns go together,
        the larger fraction of both directions. The score of the table rounds weak relations to 0,
        this number does not.
    alone : tuple of float
        What each of them explains alone.
    adds : tuple of float
        What each of them explains of what the others leave unexplained.
    kind : str
        "explains"; "go together" if one column explains the other about as well in both
        directions; "copy" if the target repeats the other column; "function" if it is an exact
        function of the other column; "identity" if it is an exact formula of the others.
    formula : str
        The formula of an identity; else empty.
    pvalue : float or None
        The probability of such evidence for any explanation of this target, if the target were
        independent of all other columns.
    qvalue : float or None
        The expected share of false links among those with at least this evidence.
    family_pvalue : float or None
        The probability of such evidence for any relation of the table, if all columns were
        independent.
    missing : float
        The fraction of the target that is explained by *whether* the explaining columns are
        missing, not by their values; 0 if no cells are missing.
    """

    target: Any
    by: tuple[Any, ...]
    explained: float
    alone: tuple[float, ...] = ()
    adds: tuple[float, ...] = ()
    kind: str = EXPLAINS
    formula: str = ""
    pvalue: float | None = None
    qvalue: float | None = None
    family_pvalue: float | None = None
    missing: float = 0.0

    @property
    def columns(self) -> tuple[Any, ...]:
        """The explaining columns and the target."""
        return (*self.by, self.target)

    def sentence(self) -> str:
        """Return the link as a sentence without numbers."""
        target, by = printable(self.target), listing(self.by)
        if self.kind == COPY:
            return f"{target} repeats {by}"
        if self.kind == FUNCTION:
            return f"{target} is a function of {by}"
        if self.kind == IDENTITY:
            return f"{target} = {printable(self.formula)}"
        if self.kind == GO_TOGETHER:
            return f"{target} and {by} go together"
        return f"{target} is explained by {by}"

    def note(self) -> str:
        """Return what columns and missing cells explain alone, and a q-value that is not small."""
        notes = []
        if len(self.by) > 1 and self.kind == EXPLAINS:
            notes.append(f"alone {', '.join(map(fraction_text, self.alone))}")
        if self.missing >= LEAST_MISSING:
            notes.append(f"whether cells are missing: {fraction_text(self.missing)}")
        # A formula holds in all rows, whatever the evidence of few of its columns.
        if self.qvalue is not None and self.qvalue > CLEAR and self.kind != IDENTITY:
            notes.append(pvalue_text("q", self.qvalue))
        return ", ".join(notes)

    def __str__(self) -> str:
        note = self.note()
        is_exact = self.kind in (COPY, FUNCTION, IDENTITY)
        fraction = "exact" if is_exact else fraction_text(self.explained)
        return f"{fraction}  {self.sentence()}{f' ({note})' if note else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types."""
        return {
            "target": self.target,
            "by": list(self.by),
            "explained": self.explained,
            "alone": list(self.alone),
            "adds": list(self.adds),
            "kind": self.kind,
            "formula": self.formula,
            "pvalue": self.pvalue,
            "qvalue": self.qvalue,
            "family_pvalue": self.family_pvalue,
            "missing": self.missing,
        }


def pvalue_text(name: str, p: float) -> str:
    """Return a p-value or q-value with its name; the smallest is only a bound.

    Examples
    --------
    >>> pvalue_text("q", 0.0123), pvalue_text("q", 1e-6)
    ('q = 0.0123', 'q ≤ 1e-06')

    """
    if p <= SMALLEST_PVALUE:
        return f"{name} ≤ {SMALLEST_PVALUE:g}"
    return f"{name} = {short_number(p)}"
