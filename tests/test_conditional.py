"""Tests given other columns: comparison with naive versions, invariances, level and power."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from example_tables import tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import covary
import naive_conditional as naive
from covary import UDSChance
from covary.correlation_scale import reading
from covary.engines import Threads
from covary.errors import ColumnError, CovaryWarning, ParameterError
from covary.measures.uds_chance import conditional, residuals
from covary.measures.uds_chance.conditional import ConditionalEvidence
from covary.prepare import prepare
from covary.significance.nulls import RandomPermutations

nan = np.nan


def listed(table):
    return [column.tolist() for column in np.asarray(table).T]


def related(n_rows, n_given=1, seed=0):
    """Return a target, a column that both explain and share, and given columns."""
    rng = np.random.default_rng(seed)
    given_columns = rng.normal(size=(n_given, n_rows))
    x, noise = rng.normal(size=(2, n_rows))
    x = x + given_columns.sum(axis=0)
    return np.column_stack([given_columns[0] + 0.5 * x + 0.5 * noise, x, *given_columns])


def with_ties(table):
    return table.round()


def with_two_values(table):
    return np.column_stack([table[:, 0] > 0, table[:, 1:]])


def with_missing(table):
    table = table.copy()
    table[np.random.default_rng(1).random(table.shape) < 0.15] = nan
    return table


def with_a_constant(table):
    return np.column_stack([table[:, :2], np.ones(len(table)), table[:, 3:]])


def with_a_determined_target(table):
    return np.column_stack([table[:, 2] ** 3, table[:, 1:]])


def with_a_determined_column(table):
    return np.column_stack([table[:, 0], np.exp(table[:, 2]), table[:, 1:]])


def with_many_missing_cells(table):
    table = table.copy()
    table[:, 2] = np.where(table[:, 2] > 0, 1.0, nan)
    return table


KINDS = [
    lambda table: table,
    with_ties,
    with_two_values,
    with_missing,
    with_a_constant,
    with_a_determined_target,
    with_a_determined_column,
    with_many_missing_cells,
]
NAMES = [
    "as it is", "ties", "two values", "missing", "constant", "determined target",
    "determined column", "mostly missing",
]  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS, ids=NAMES)


def roles_of(table, n_columns=1):
    """Return target, columns and given columns: the first, the next ones, and the rest."""
    return 0, tuple(range(1, 1 + n_columns)), tuple(range(1 + n_columns, table.shape[1]))


def observed(table, n_columns=1):
    return ConditionalEvidence(prepare(table), *roles_of(table, n_columns)).observed


# ---------------------------------------------------------------- residuals


@pytest.mark.parametrize("n_columns", [0, 1, 2, 3, 4])
@pytest.mark.parametrize(("n_further", "most"), [(0, 0), (0, 2), (0, 13), (0, 128), (2, 40)])
def test_terms_are_the_naive_ones(n_columns, n_further, most):
    n_levels = (0,) * n_columns
    found = residuals.terms(n_levels, n_further, most)
    expected = naive.terms(n_levels, n_further, most)
    assert len(found) == len(expected)
    assert {frozenset(term.factors) for term in found} == set(expected)
    for term in found:
        assert term.variance == pytest.approx(float(expected[frozenset(term.factors)]), rel=1e-12)
    of_one = {term.factors[0][0] for term in found if term.factors[0][1] == 1}
    assert of_one >= set(range(n_columns + n_further)), "all columns are used"


few_values = st.sampled_from([0.0, -0.0, 1.0, -3.5, 1e300, 7e-9])
columns_of_any_kind = st.lists(few_values, min_size=1, max_size=20)


@settings(max_examples=60)
@given(columns_of_any_kind)
def test_functions_of_a_column_are_the_naive_ones(column):
    found = residuals.ranked(np.array(column))
    assert found.scores() == pytest.approx(naive.normal_scores(column), abs=1e-12)
    assert found.varies == naive.naive_chance.varies(column)
    assert found.tied == naive.is_tied(column)
    for degree in (2, 5):
        cosine = residuals._standardised(np.cos(math.pi * degree * found.positions()))
        assert cosine == pytest.approx(naive.cosine(column, degree), abs=1e-9)


def test_the_functions_of_a_design_have_mean_0_and_their_prior_variance():
    table = np.random.default_rng(0).normal(size=(2000, 2))
    design = residuals.design_of([residuals.ranked(column) for column in table.T], [], 2000)
    variances = [term.variance for term in residuals.terms((0, 0), 0, 256)]
    assert design.shape == (len(variances), 2000)
    assert np.abs(design.mean(axis=1) / np.sqrt(variances)).max() < 0.1
    assert design.var(axis=1) / variances == pytest.approx(1, abs=0.15)


def assert_equal_residuals(found, expected):
    assert found.unexplained == pytest.approx(expected.unexplained, abs=1e-9)
    if expected.unexplained < 0.01:
        return  # nothing but rounding errors
    if expected.ridge.design:
        assert (found.penalty is None) == (expected.penalty is None)
    if found.penalty is not None:
        assert found.penalty == pytest.approx(expected.penalty, rel=1e-9)
    assert found.regression.spread == pytest.approx(expected.ridge.spread, rel=1e-9)
    assert found.residuals == pytest.approx(expected.residuals, abs=2e-9)
    assert found.fitted == pytest.approx(expected.fitted, abs=2e-9)
    rng = np.random.default_rng(0)
    sources = np.array([rng.permutation(found.residuals.size) for _ in range(3)])
    copies = [expected.exchanged(each) for each in sources.tolist()]
    assert found.exchanged(sources) == pytest.approx(np.array(copies), abs=2e-9)


@every_kind
@pytest.mark.parametrize(("n_rows", "n_given"), [(9, 1), (25, 2), (40, 3)])
def test_residuals_are_the_naive_ones(kind, n_rows, n_given):
    table = kind(related(n_rows, n_given))
    table = table[~np.isnan(table).any(axis=1)]
    table = table[:, [0, 1, *(c for c in range(2, table.shape[1]) if np.ptp(table[:, c]) != 0)]]
    columns = listed(table)
    ranks = [residuals.ranked(column) for column in table.T]
    found = residuals.adjust(ranks[:2], ranks[2:])
    for one, other in zip(found, naive.adjust(columns[:2], columns[2:]), strict=True):
        assert_equal_residuals(one, other)


def test_residuals_of_many_rows_are_the_naive_ones():
    """All 200 functions are used, and columns oscillate."""
    rng = np.random.default_rng(0)
    a, b, e = rng.normal(size=(3, 400))
    table = np.column_stack([np.sin(9 * a) * b + 0.1 * (1 + b**2) * e, np.cos(7 * b), a, b])
    ranks = [residuals.ranked(column) for column in table.T]
    found = residuals.adjust(ranks[:2], ranks[2:])
    for one, other in zip(found, naive.adjust(listed(table)[:2], listed(table)[2:]), strict=True):
        assert_equal_residuals(one, other)
    assert len(residuals.design_of(ranks[2:], [], 400)) > 180


def test_residuals_have_hardly_any_location_or_spread_of_the_given_column():
    rng = np.random.default_rng(0)
    z, noise = rng.normal(size=(2, 2000))
    condition = residuals.ranked(z)
    (of_mean,) = residuals.adjust([residuals.ranked(np.sin(3 * z) + noise)], [condition])
    for function in (np.sin(3 * z), z, z**2):
        assert abs(np.corrcoef(function, of_mean.residuals)[0, 1]) < 0.05
    assert 0.7 < of_mean.unexplained < 0.9  # the root of 2 / 3, for large tables
    y = np.exp(z) * noise
    (of_spread,) = residuals.adjust([residuals.ranked(y)], [condition])
    before, after = (abs(stats.spearmanr(z, np.abs(each))[0]) for each in (y, of_spread.residuals))
    assert before > 0.5
    # The spread of very small residuals is overestimated, so that they do not count too much.
    assert after < 0.3 * before


# ---------------------------------------------------------------- evidence


class Recorded(ConditionalEvidence):
    """Conditional evidence that records the random numbers of copies."""

    def _copies(self, numbers):
        self.__dict__.setdefault("numbers", []).append(numbers.tolist())
        return super()._copies(numbers)


@pytest.fixture
def few_references():
    """Use few reference copies, because each one takes time in the naive version."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditional, "N_REFERENCE", 5)
        yield


def assert_evidence_is_naive(table, n_columns, n_permutations=2):
    rng = np.random.default_rng(0)
    target, columns, given_columns = roles_of(table, n_columns)
    found = Recorded(prepare(table), target, columns, given_columns)
    values = listed(table)
    permutations = [rng.permutation(len(table)).astype(np.uint32) for _ in range(n_permutations)]
    reference = [] if found.untestable else found.numbers[0]
    expected = naive.evidence(
        values[target],
        [values[c] for c in columns],
        [values[c] for c in given_columns],
        reference,
        [rows.tolist() for rows in permutations],
    )
    result = [found.observed, *found.of_permutations(np.array(permutations))]
    # The expected entropies of columns with ties are interpolated between cell sizes.
    assert result == pytest.approx(expected, rel=1e-5, abs=1e-5)
    return expected[0]


@every_kind
@pytest.mark.parametrize(
    ("n_rows", "n_given", "n_columns"),
    [(12, 1, 1), (24, 2, 1), (30, 1, 1), (40, 3, 1), (40, 3, 2)],
)
def test_conditional_evidence_is_the_naive_one(kind, n_rows, n_given, n_columns, few_references):
    found = assert_evidence_is_naive(kind(related(n_rows, n_given)), n_columns)
    if n_columns == 1 and kind in (with_a_determined_target, with_a_determined_column):
        assert found == 0.0
    elif kind not in (with_missing, with_many_missing_cells):  # few rows may be complete
        assert found > 0.0


@settings(max_examples=25)
@given(tables(rows=(4, 40), columns=(3, 5)), st.integers(1, 2))
def test_conditional_evidence_of_any_table_is_the_naive_one(table, n_columns):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditional, "N_REFERENCE", 4)
        # The naive evidence is a mean of 1 / probability, which must not overflow.
        assume(observed(table, n_columns) < 300)
        assert_evidence_is_naive(table, n_columns, n_permutations=1)


def increasing(column, rng):
    """Return other values in the same order, with the same ties and missing cells."""
    values = np.unique(column[~np.isnan(column)])
    others = np.cumsum(rng.gamma(0.3, size=values.size) + 1e-6) - 5.0
    return np.where(np.isnan(column), nan, np.append(others, nan)[np.searchsorted(values, column)])


@settings(max_examples=40)
@given(tables(rows=(3, 120), columns=(3, 5)), st.integers(1, 2), st.integers(0, 2**32 - 1))
def test_conditional_evidence_depends_on_ranks_and_not_on_the_order_of_rows(
    table, n_columns, seed
):
    found = observed(table, n_columns)
    assert math.isfinite(found)
    rng = np.random.default_rng(seed)
    assert observed(table[rng.permutation(len(table))], n_columns) == found
    transformed = np.column_stack([increasing(column, rng) for column in table.T])
    assert observed(transformed, n_columns) == found


@pytest.mark.parametrize("balanced", [0, 1, 2, 3])
def test_order_of_rows_does_not_matter_with_two_equally_frequent_values(balanced):
    rng = np.random.default_rng(0)
    table = related(60, 2)
    table[:, balanced] = table[:, balanced] > np.median(table[:, balanced])
    assert table[:, balanced].sum() == 30
    found = {observed(table[rng.permutation(60)]) for _ in range(8)}
    assert len(found) == 1


@settings(max_examples=30)
@given(tables(rows=(60, 120), columns=(5, 6)), st.integers(0, 2**32 - 1))
def test_conditional_evidence_does_not_depend_on_the_order_of_columns(table, seed):
    rng = np.random.default_rng(seed)
    tested, known = rng.permutation([1, 2]), rng.permutation(np.arange(3, table.shape[1]))
    assert observed(table[:, [0, *tested, *known]], 2) == pytest.approx(observed(table, 2))


@settings(max_examples=25)
@given(tables(rows=(3, 60), columns=(3, 5)), st.integers(0, 2**32 - 1))
def test_moved_evidence_is_that_of_the_moved_table(table, seed):
    rows = np.random.default_rng(seed).permutation(len(table)).astype(np.uint32)
    prepared = prepare(table)
    moved = prepared.moved({1: rows}).derived(ConditionalEvidence, *roles_of(table))
    other = table.copy()
    other[rows, 1] = table[:, 1]
    assert moved.observed == observed(other)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.column_stack([np.ones(50), related(50)[:, 1:]]), "the target is constant"),
        (np.insert(related(50)[:, [0, 2]], 1, 3.0, axis=1), "the tested columns are constant"),
        (with_a_determined_target(related(50)), "determine the target"),
        (with_a_determined_column(related(50))[:, [0, 1, 3]], "determine the tested columns"),
        (related(11), "fewer than 12 rows"),
        (np.vstack([related(11), np.full((20, 3), nan)]), "fewer than 12 rows"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_evidence_is_0_and_p_is_1_if_there_is_nothing_to_test(table, reason):
    assert observed(table) == 0.0
    with pytest.warns(CovaryWarning, match=f"nothing to test, so that p = 1: .*{reason}"):
        result = covary.test(table, [1], target=0, given=[2], permutations=19, n_jobs=1)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert result.null.tolist() == [0.0] * 19


def test_columns_that_are_constant_or_determined_do_not_count():
    table = related(80)
    expected = observed(table)
    assert expected > 0
    for more in (np.ones(80), table[:, 2] ** 3):
        with_more = np.column_stack([table[:, :2], more, table[:, 2]])
        assert observed(with_more, n_columns=2) == expected
    for more in (np.ones(80), np.full(80, nan)):
        assert observed(np.column_stack([table, more])) == expected


def test_a_sample_of_many_rows_is_used(monkeypatch):
    table = related(150)
    whole = observed(table)
    monkeypatch.setattr(conditional, "MAX_ROWS", 100)
    test = ConditionalEvidence(prepare(table), 0, (1,), (2,))
    assert len(set(test.rows.tolist())) == test.rows.size == 100
    assert test.observed not in (0.0, whole)
    assert observed(table[::-1]) == test.observed
    rows = np.random.default_rng(0).permutation(150).astype(np.uint32)
    assert np.isfinite(test.of_permutations(rows[None])).all()


@pytest.mark.parametrize(("n_missing", "tested"), [(0, 100), (49, 100), (50, 100), (60, 90)])
def test_a_result_says_how_many_rows_were_tested(monkeypatch, n_missing, tested):
    monkeypatch.setattr(conditional, "MAX_ROWS", 100)
    table = related(150)
    table[:n_missing, 2] = nan
    result = checked(table, permutations=19)
    assert (result.rows, result.tested) == (150, tested)
    assert f"({tested} of 150 rows, seed 0)" in str(result)
    assert "(150 rows, seed 0)" in str(covary.test(table, [1], target=0, permutations=19))


def test_a_test_stops_if_its_session_is_cancelled():
    test = ConditionalEvidence(prepare(related(50)), 0, (1,), (2,))
    rows = np.arange(50, dtype=np.uint32)[None]
    with Threads(1).session(test) as session:
        assert next(iter(session.run(permuted, [rows])))[1] == [test.of_permutations(rows)]
        session.cancelled.set()
        with pytest.raises(RuntimeError, match="cancelled"):
            next(iter(session.run(permuted, [rows])))


def permuted(test, permutations):
    return [test.of_permutations(rows) for rows in permutations]


# ---------------------------------------------------------------- covary.test


def checked(table, columns=(1,), **options):
    options = {"target": 0, "given": [2], "permutations": 99, "n_jobs": 1, **options}
    return covary.test(table, list(columns), **options)


def test_result_of_a_test_with_given_columns():
    table = pd.DataFrame(related(120, 2), columns=["y", "x", "z", "w"])
    result = covary.test(table, ["x"], target="y", given=["z", "w"], permutations=39, seed=2)
    measure = UDSChance().beyond((2, 3))
    prepared = prepare(table[["x", "y", "z", "w"]])
    assert (result.columns, result.target, result.given) == (("x", "y"), "y", ("z", "w"))
    assert (result.permutations, result.exact, result.rows) == (39, False, 120)
    assert result.score == covary.score(table, ["x"], target="y", given=["z", "w"])
    assert result.statistic == covary.evidence(table, ["x"], target="y", given=["z", "w"])
    assert result.statistic == measure.evidence_sets(prepared, [(0, 1)], 1)[0]
    moves = [RandomPermutations(120, (1,), 2).moves(number)[1] for number in range(39)]
    null = ConditionalEvidence(prepared, 1, (0,), (2, 3)).of_permutations(np.array(moves))
    assert result.null.tolist() == null.tolist()
    assert result.pvalue == (1 + np.sum(null >= result.statistic - 1e-9)) / 40
    text = str(result).splitlines()
    assert text[0].endswith("for y explained by x beyond z and w")
    assert text[1].endswith("at least this large if y were independent of x given z and w")
    expected = "39 permutations of y among rows for which z and w predict similar values of y"
    assert expected in text[2]
    document = result.to_dict()
    assert (document["columns"], document["target"]) == (["x", "y"], "y")
    assert (document["given"], document["pvalue"]) == (["z", "w"], result.pvalue)
    assert json.loads(result.to_json()) == document
    plain = covary.test(table, ["x"], target="y", permutations=39)
    assert (plain.given, plain.to_dict()["given"]) == ((), [])
    assert "beyond" not in str(plain)


def test_given_columns_keep_their_labels():
    frame = pd.DataFrame(related(40), columns=[2020, 2021, 2022])
    result = covary.test(frame, [2021], target=2020, given=[2022], permutations=9)
    assert (result.columns, result.target, result.given) == ((2021, 2020), 2020, (2022,))


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_the_result_is_the_same_on_every_engine(engine):
    table = with_missing(related(90, 2))
    one = checked(table, given=[2, 3])
    other = checked(table, given=[2, 3], engine=engine, n_jobs=2)
    assert other == one
    assert other.null.tolist() == one.null.tolist()


def test_a_test_with_given_columns_stops_early():
    clear, null = related(150, seed=1), np.random.default_rng(0).normal(size=(150, 3))
    for table, dependent in ((clear, True), (null, False)):
        result = checked(table, permutations=999, level=0.05)
        assert result.permutations < 500
        assert result.level == 0.05
        assert (result.pvalue <= 0.05) == dependent
        side = "at most" if dependent else "above"
        assert str(result).endswith(f"; stopped early because p is {side} 0.05")
        whole = checked(table, permutations=result.permutations)
        assert whole.null.tolist() == result.null.tolist()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measure": "uds"}, ParameterError, "beyond given"),
        ({"measure": "spearman"}, ParameterError, "beyond given"),
        ({"target": None}, ParameterError, "given columns need a target"),
        ({"given": [1]}, ColumnError, "in both columns and given"),
        ({"given": 2}, ParameterError, "given must be a list"),
        ({"given": ["none"]}, ColumnError, "no column 'none'"),
    ],
)
def test_errors_say_what_to_do(options, error, message):
    with pytest.raises(error, match=message):
        checked(related(40), **options)


def test_a_measure_of_ones_own_has_no_given_columns():
    class Own(covary.measures.Measure):
        takes_target = True

        def score_set(self, prepared, columns, target=None):
            return 0.0

    with pytest.raises(ParameterError, match="beyond given"):
        checked(related(40), measure=Own())


def test_the_command_tests_with_given_columns(tmp_path, covary_command):
    path = tmp_path / "table.csv"
    pd.DataFrame(related(60, 2), columns=["y", "x", "z", "w"]).to_csv(path, index=False)
    command = ("test", path, "-c", "x", "--target", "y", "-n", 19)
    expected = covary.test(path, ["x"], target="y", given=["z"], permutations=19)
    code, out, _ = covary_command(*command, "--given", "z")
    assert code == 0
    shown = [expected.summary(), f"score: {reading(expected.score)}", *expected.explained()]
    assert " ".join(out.split()) == " ".join(" ".join(shown).split())
    code, out, _ = covary_command(*command, "--given", "z,w", "--json")
    assert code == 0
    both = covary.test(path, ["x"], target="y", given=["z", "w"], permutations=19)
    assert json.loads(out) == both.to_dict()
    code, out, err = covary_command("test", path, "--given", "z")
    assert (code, out) == (1, "")
    assert "given columns need a target" in err


# ---------------------------------------------------------------- level and power

N_TABLES = 60


def rejections(make, n_tables=N_TABLES, n_rows=300, **options):
    """Return how many tables of target, column and given columns are rejected at level 0.05."""
    rejected = 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n_rows])
        table = np.column_stack(make(rng, n_rows))
        every = list(range(2, table.shape[1]))
        rejected += checked(table, **{"given": every, **options}, seed=seed).pvalue <= 0.05
    return rejected


def max_rejections(n_tables):
    """Return a number that a valid test exceeds with a probability of at most 0.001."""
    return int(stats.binom.ppf(0.999, n_tables, 0.05))


def smooth_cause(rng, n):
    z, a, b = rng.normal(size=(3, n))
    return z + 0.5 * a, np.sin(2 * z) + 0.5 * b, z


def cause_of_spread(rng, n):
    z, a, b = rng.normal(size=(3, n))
    return np.exp(z) * a, np.exp(z) * b, z


def three_causes(rng, n):
    z, (a, b) = rng.normal(size=(3, n)), rng.normal(size=(2, n))
    return z.sum(axis=0) + a, z[0] * z[1] + z[2] + b, *z


def cause_of_two_values(rng, n):
    z, a, b = rng.normal(size=(3, n))
    return z + a > 0, z + 0.5 * b, z


def cause_with_levels(rng, n):
    z = rng.integers(0, 4, n)
    a, b = rng.normal(size=(2, n))
    return (z - 1.5) ** 2 + 0.5 * a, np.where(z == 2, 1.0, z) + 0.5 * b, z


@pytest.mark.parametrize(
    "make", [smooth_cause, cause_of_spread, three_causes, cause_of_two_values, cause_with_levels]
)
def test_columns_with_a_common_cause_are_rejected_at_the_level(make):
    assert rejections(make) <= max_rejections(N_TABLES)
    # Without the cause, they depend on each other.
    assert rejections(make, n_tables=5, given=None) == 5


def test_pvalues_of_a_common_cause_are_not_too_large():
    pvalues = []
    for seed in range(40):
        table = np.column_stack(smooth_cause(np.random.default_rng([seed, 1]), 200))
        pvalues.append(checked(table, permutations=39, seed=seed).pvalue)
    assert stats.kstest(pvalues, "uniform", alternative="less").pvalue > 0.001


def a_sum(rng, n):
    x, z, e = rng.normal(size=(3, n))
    return z + 0.5 * x + e, x, z


def a_product(rng, n):
    x, z, e = rng.normal(size=(3, n))
    return x * z + e, x, z


def two_values(rng, n):
    x, z, e = rng.normal(size=(3, n))
    return z + x + e > 0, x + 0.5 * z, z


def a_column_with_two_values(rng, n):
    z, e = rng.normal(size=(2, n))
    x = z + rng.normal(size=n) > 0
    return z + x + e, x, z


@pytest.mark.parametrize("make", [a_sum, a_product, two_values, a_column_with_two_values])
def test_dependence_beyond_the_given_column_is_detected(make):
    assert rejections(make, n_tables=20) >= 18


def test_one_of_two_columns_is_enough():
    def make(rng, n):
        y, x, z = a_sum(rng, n)
        return y, x, z, z + rng.normal(size=n)

    assert rejections(make, n_tables=20, columns=(1, 3), given=[2]) >= 17
    assert rejections(make, n_tables=20, columns=(3,), given=[2]) <= max_rejections(20)


def test_missing_cells_of_a_given_column_do_not_make_others_depend_on_each_other():
    rejected = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        shared, one, other = rng.normal(size=(3, 300))
        known = np.where(rng.random(300) < 0.2, nan, shared)
        table = np.column_stack([shared + one, shared + other, known])
        rejected += covary.test(table, [0], target=1, given=[2], permutations=99).pvalue <= 0.05
    assert rejected <= max_rejections(30)
