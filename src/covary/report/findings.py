"""The findings of a report: sentences about the best sets, and their significance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covary.formatting import short_number
from covary.plots.figures.style import joined_labels, shown_label
from covary.report.profile import Profile
from covary.results import ADDS_NOTHING, SearchResult, Subspace
from covary.significance.stopping import LEVEL

MAX_FINDINGS = 5


class Contribution(NamedTuple):
    """What one of several columns explains alone, and what it adds to the others."""

    column: str
    alone: float
    adds: float


class ExplainedColumn(NamedTuple):
    """A column that other columns of its set explain.

    Parameters
    ----------
    target : the explained column
    by : the explaining columns, as text
    several : whether there are several explaining columns
    fraction : the explained fraction
    contributions : those of several explaining columns
    details : bins, cuts and other details, as text
    rows_missing : the number of rows without a value of ``by``, if these are most of the rows
    profile : how the target differs between groups of rows, if columns have named values
    """

    target: str
    by: str
    several: bool
    fraction: float
    contributions: tuple[Contribution, ...] = ()
    details: str = ""
    rows_missing: int = 0
    profile: Profile | None = None


class Finding(NamedTuple):
    """A sentence about one set, and the rank of this set."""

    sentence: str
    rank: int


def list_findings(
    result: SearchResult, explained: Sequence[Sequence[ExplainedColumn]]
) -> list[Finding]:
    """Return sentences about the best sets that are significant, at most one per set.

    Parameters
    ----------
    result : the result of the search
    explained : the explained columns of the first sets, best set first
    """
    findings: list[Finding] = []
    mentioned: set[tuple[str, str]] = set()
    for rank, (subspace, columns) in enumerate(zip(result, explained, strict=False), start=1):
        if subspace.adds_nothing or subspace.variant_of is not None or subspace.score <= 0:
            continue
        if subspace.family_pvalue is not None and subspace.family_pvalue > LEVEL:
            continue
        new = [each for each in columns if (each.by, each.target) not in mentioned]
        if new:
            best = max(new, key=lambda each: each.fraction)
            mentioned.add((best.by, best.target))
            findings.append(Finding(_explained_sentence(best), rank))
        elif not columns:
            findings.append(Finding(_score_sentence(subspace, result.measure), rank))
        if len(findings) == MAX_FINDINGS:
            break
    return findings


def _explained_sentence(column: ExplainedColumn) -> str:
    verb = "explain" if column.several else "explains"
    sentence = f"{column.by} {verb} {column.fraction:.0%} of {column.target}"
    if column.rows_missing:
        missing = "at least one of them" if column.several else column.by
        sentence += f", including {column.rows_missing:,} rows in which {missing} is missing"
    return sentence


def _score_sentence(subspace: Subspace, measure: str) -> str:
    columns, score = joined_labels(subspace.columns), short_number(subspace.score)
    return f"{columns} depend on each other ({measure} = {score})"


def significance_note(result: SearchResult, findings: Sequence[Finding]) -> str:
    """Return a sentence about the significance of the findings."""
    if result.scored == 0:
        return "No set was scored."
    if not findings and result.tests is None:
        return "No set has a score above 0."
    if not findings:
        return (
            f"No significant finding: every set has a family-wise p above {LEVEL:g}, has no "
            f"positive score, or {ADDS_NOTHING}."
        )
    pvalues = [result[finding.rank - 1].family_pvalue for finding in findings]
    computed = [pvalue for pvalue in pvalues if pvalue is not None]
    if len(computed) < len(pvalues):
        state = "Not tested" if result.tests is None else "The tests are incomplete"
        return f"{state}: these scores may be due to chance."
    null = "all columns were independent"
    if result.target is not None:
        null = f"{shown_label(result.target)} were independent of the other columns"
        if given := result.parameters.get("given"):
            null += f" given {joined_labels(given)}"
    largest = short_number(max(computed))
    pvalue = f"at most {largest} for these findings" if len(computed) > 1 else largest
    return (
        f"Family-wise p is {pvalue}: the probability that any possible set has at least this "
        f"evidence if {null}."
    )
