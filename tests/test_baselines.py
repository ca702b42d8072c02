"""Baselines: comparison with naive versions, with authors' scores and with other libraries."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import warnings
from importlib.util import find_spec
from itertools import combinations, pairwise, permutations, product
from pathlib import Path

import naive
import naive_baselines
import numpy as np
import pytest
from example_tables import tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

import covary
from covary.errors import ParameterError
from covary.measures import all_measures, find_measure
from covary.measures.shared.packages import _load
from covary.prepare import prepare
from nominal_tables import as_table, nominal_table, renumbered, reordered, with_rows

DATA = Path(__file__).parent / "data"
THEIRS = json.loads((DATA / "authors_scores.json").read_text())

LEVELS = ["cramers-v", "phik", "theils-u"]
NUMBERS = ["distance-correlation", "hsic", "mutual-information", "pearson", "spearman", "xi"]
PAIRWISE = sorted([*LEVELS, *NUMBERS])
ANY_SIZE = ["cmi", "codec", "dhsic", "hics", "mac", "mcde", "quadratic", "total-correlation"]
BASELINES = sorted([*PAIRWISE, *ANY_SIZE])

NEEDS = {"distance-correlation": "dcor", "dhsic": "hyppo", "hsic": "hyppo", "phik": "phik"}

NO_TIES = ("normal", "heavy")
# Without a large offset, which would cost precision.
PLAIN = ("normal", "ties", "binary", "constant", "heavy", "dependent")
UNIT_FREE = [
    ("cmi", {"scale": "range"}),
    ("codec", {}),
    ("mac", {}),
    ("hics", {}),
    ("hics", {"test": "welch"}),
    ("mcde", {}),
    ("total-correlation", {}),
    ("total-correlation", {"estimator": "knn"}),
    ("quadratic", {}),
    ("dhsic", {"scale": "median"}),
    ("hsic", {"scale": "median"}),
    ("distance-correlation", {}),
    ("mutual-information", {}),
    ("pearson", {}),
    ("spearman", {}),
    ("xi", {}),
    ("cramers-v", {}),
    ("phik", {}),
    ("theils-u", {}),
]
RANKS_ONLY = [
    ("hics", {}),
    ("mcde", {}),
    ("total-correlation", {}),
    ("spearman", {}),
    ("xi", {}),
    ("cramers-v", {}),
    ("theils-u", {}),
]
ANY_ORDER = [case for case in UNIT_FREE if case[0] != "mutual-information"] + [("cmi", {})]
ANY_ORDER_OF_ROWS = [case for case in ANY_ORDER if case[0] not in ("cmi", "xi")]


def listed(table):
    return [column.tolist() for column in table.T]


def score(table, name, **parameters):
    return covary.score(table, measure=name, **parameters)


def near(value, tolerance=1e-9):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def complete_rows(table):
    """Return the rows without a missing cell."""
    return table[~np.isnan(table).any(axis=1)]


def all_vary(table):
    return len(table) > 0 and bool((np.ptp(table, axis=0) > 0).all())


def no_ties(table):
    return all(len(np.unique(column)) == len(column) for column in complete_rows(table).T)


@st.composite
def with_copies(draw, **options):
    """Draw a table; in some tables, one column is a copy of another."""
    table = draw(tables(**options))
    if draw(st.booleans()):
        to, of = draw(st.permutations(range(table.shape[1])))[:2]
        table[:, to] = table[:, of]
    return table


def example_table(seed=0, n_rows=60):
    """Return four columns: x, a noisy function of x, noise, and a rounded sum with ties."""
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(2, n_rows))
    y = np.sin(2 * x) + rng.normal(size=n_rows) / 5
    return np.column_stack([x, y, noise, np.round(x + noise)])


def needs(name):
    package = NEEDS.get(name, "numpy")
    return pytest.mark.skipif(find_spec(package) is None, reason=f"{name} needs {package}")


def named(names):
    return pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in names])


def parametrized(cases):
    """Parametrize a test by measures with their parameters."""
    params = [
        pytest.param(*case, marks=needs(case[0]), id="-".join([case[0], *case[1].values()]))
        for case in cases
    ]
    return pytest.mark.parametrize(("name", "parameters"), params)


def hyppo_measures():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from hyppo.d_variate import dHsic
        from hyppo.independence import Hsic
    return Hsic(), dHsic()


def hsic_is_defined(table, scale=None, least=1e-6):
    """Return whether both variances are clearly positive; with 3 rows, for example, they are 0."""
    complete = complete_rows(table)
    if len(complete) < 3 or not all_vary(complete):
        return True
    return min(naive_baselines.hsic_parts(*listed(table), scale)[1:]) > least


# ---------------------------------------------------------------- cmi


@pytest.mark.parametrize("columns", THEIRS["cmi"]["scores"])
def test_cmi_equals_the_authors_scores(columns):
    table = np.loadtxt(DATA / THEIRS["cmi"]["file"], delimiter=",")
    found = score(table[:, [int(c) for c in columns.split(",")]], "cmi")
    assert found == pytest.approx(THEIRS["cmi"]["scores"][columns], abs=1e-9)


@given(with_copies(rows=(3, 80)), st.sampled_from([None, "range"]))
def test_cmi_equals_the_naive_version(table, scale):
    columns = naive_baselines.complete(listed(table))
    assume(columns[0])
    if scale == "range":
        columns = [naive_baselines.to_unit(column) for column in columns]
    in_order = sorted(columns, key=naive.cumulative_entropy)
    for a, b in pairwise(in_order):
        gap = naive.cumulative_entropy(b) - naive.cumulative_entropy(a)
        assume(a == b or gap > 1e-9 * naive.cumulative_entropy(b))
    assert score(table, "cmi", scale=scale) == near(naive_baselines.cmi(listed(table), scale))


# ---------------------------------------------------------------- mac


def test_naive_merges_are_optimal():
    rng = np.random.default_rng(0)
    for _ in range(20):
        columns = listed(np.round(rng.normal(size=(30, 3)), 1))
        bins = naive.initial_bins(columns[0], 7)
        costs = naive_baselines.merge_costs(bins, columns[1:])

        def cost(ends, costs=costs):
            return sum(costs[a + 1, b] for a, b in zip([-1, *ends], ends, strict=False))

        for parts, ends in naive_baselines.best_merges(bins, columns[1:]).items():
            least = min(map(cost, naive.all_partitions(len(bins), parts)))
            assert cost(ends) == pytest.approx(least, abs=1e-12)


def mac_and_ties(columns, **parameters):
    """Return the naive score, and whether there was a choice between equal values."""
    ties = []

    def choose(choices):
        ties.append(len(choices) > 1)
        return choices[0]

    return naive_baselines.mac(columns, **parameters, choose=choose), any(ties)


def test_mac_equals_the_naive_version_if_no_choices_are_tied():
    rng = random.Random(0)
    compared = 0
    for seed in range(150):
        table = table_without_ties(np.random.default_rng(seed))
        parameters = {"beta": rng.choice([4, 7, 20]), "epsilon": rng.choice([0.3, 0.5, 0.8])}
        expected, tied = mac_and_ties(listed(table), **parameters)
        if not tied:
            assert score(table, "mac", **parameters) == near(expected)
            compared += 1
    assert compared > 30


def table_without_ties(rng):
    """Return two to five columns; most of them are related, and some have missing cells."""
    table = rng.normal(size=(int(rng.integers(10, 90)), int(rng.integers(2, 6))))
    for column in range(1, table.shape[1]):
        table[:, column] += rng.choice([0.0, 1.0, 3.0]) * table[:, column - 1] ** rng.integers(
            1, 3
        )
    if rng.random() < 0.3:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table


@settings(max_examples=60)
@given(with_copies(rows=(3, 80), columns=(2, 2)), st.sampled_from([4, 7, 20]))
def test_mac_of_a_pair_equals_the_naive_version_if_no_choices_are_tied(table, beta):
    expected, tied = mac_and_ties(listed(table), beta=beta)
    found = score(table, "mac", beta=beta)
    if tied:  # Other bins of the same cost may have another value.
        assert 0.0 <= found <= 1.0
    else:
        assert found == near(expected)


@settings(max_examples=60)
@given(with_copies(rows=(3, 120)), st.randoms(use_true_random=False))
def test_mac_does_not_depend_on_the_order_of_columns_and_rows(table, chance):
    rows, columns = (chance.sample(range(n), n) for n in table.shape)
    assert score(table[rows][:, columns], "mac") == near(score(table, "mac"), 1e-12)


# ---------------------------------------------------------------- hics and mcde


def is_one_of(value, possible):
    return any(value == near(other) for other in possible)


@settings(max_examples=60)
@given(
    with_copies(rows=(3, 8), columns=(2, 4)),
    st.sampled_from(["ks", "welch"]),
    st.sampled_from([0.1, 0.4, 0.9]),
)
def test_a_slice_of_hics_is_a_possible_slice(table, test, alpha):
    columns = listed(table)
    possible = {v or 0.0 for v, _ in naive_baselines.hics_values(columns, alpha, test)}
    for seed in range(5):
        found = score(table, "hics", slices=1, alpha=alpha, test=test, seed=seed)
        assert is_one_of(found, possible)


@settings(max_examples=60)
@given(
    with_copies(rows=(3, 7), columns=(2, 3)),
    st.sampled_from([0.2, 0.5, 0.99]),
    st.sampled_from([0.3, 0.5, 0.99]),
)
def test_a_slice_of_mcde_is_a_possible_slice(table, alpha, beta):
    possible = {v for v, _ in naive_baselines.mcde_values(listed(table), alpha, beta)}
    for seed in range(5):
        found = score(table, "mcde", slices=1, alpha=alpha, beta=beta, seed=seed)
        assert is_one_of(found, possible)


def tables_for_slices():
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, 40))
    with_missing = np.column_stack([x, np.round(x + y), z])
    with_missing[rng.random(with_missing.shape) < 0.15] = np.nan
    return {
        "independent": np.column_stack([x, y]),
        "dependent": np.column_stack([x, x**2 + y / 5, x + z]),
        "ties": np.round(np.column_stack([x, x + y, y])),
        "missing": with_missing,
    }


SAMPLED = [("hics", {}), ("hics", {"test": "welch"}), ("mcde", {})]


@parametrized(SAMPLED)
@pytest.mark.parametrize("of", tables_for_slices())
def test_mean_over_seeds_equals_that_of_the_naive_version(name, parameters, of):
    table = tables_for_slices()[of]
    naive_score = getattr(naive_baselines, name)
    ours = [score(table, name, seed=seed, **parameters) for seed in range(100)]
    rngs = [np.random.default_rng(seed) for seed in range(100)]
    theirs = [naive_score(listed(table), rng, **parameters) for rng in rngs]
    error = math.sqrt((np.var(ours) + np.var(theirs)) / 99)
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=3 * error)
    assert np.std(ours) == pytest.approx(np.std(theirs), rel=0.5)


@parametrized(SAMPLED)
def test_mean_of_many_slices_equals_the_mean_over_all_possible_slices(name, parameters):
    rng = np.random.default_rng(2)
    table = np.round(rng.normal(size=(10, 3)))
    table[:, 2] += table[:, 0]
    table[3, 0] = table[5, 1] = np.nan
    values = getattr(naive_baselines, f"{name}_values")(listed(table), **parameters)
    counted = [(value, chance) for value, chance in values if value is not None]
    mean = sum(v * chance for v, chance in counted) / sum(chance for _, chance in counted)
    found = [score(table, name, slices=2000, seed=seed, **parameters) for seed in range(200)]
    assert np.mean(found) == pytest.approx(mean, abs=3 * np.std(found) / math.sqrt(199))


@pytest.mark.parametrize("columns", THEIRS["hics"]["scores"])
def test_hics_is_close_to_the_authors_scores(columns):
    table = np.loadtxt(DATA / THEIRS["hics"]["file"], delimiter=",")
    table = table[:, [int(c) for c in columns.split(",")]]
    mean, deviation = THEIRS["hics"]["scores"][columns]
    found = [score(table, "hics", seed=seed) for seed in range(100)]
    # The authors' distribution function skips every second value. This reduces the deviation by up
    # to one step, which is 1 divided by the number of rows of a slice.
    step = 1 / (1000 * 0.1 ** (1 - 1 / table.shape[1]))
    assert np.mean(found) == pytest.approx(mean, abs=step + 3 * deviation / 10 * math.sqrt(2))
    assert np.std(found) == pytest.approx(deviation, rel=0.5)


def test_independent_columns_with_ties_are_not_significant():
    # Ties must be broken differently in each column, as they are in permuted tables.
    pvalues = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = np.column_stack([rng.normal(size=100), rng.random((100, 4)) < 0.05])
        pvalues.append(covary.test(table, measure="hics", permutations=19).pvalue)
    error = math.sqrt(1 / 12 / len(pvalues))
    assert np.mean(pvalues) == pytest.approx(0.525, abs=3 * error)


@parametrized(SAMPLED)
def test_seed_determines_the_slices(name, parameters):
    found = [score(example_table(), name, seed=seed, **parameters) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


def test_a_slice_of_all_rows_counts_as_0():
    table = example_table()
    assert score(table, "mcde", alpha=0.999) == 0
    assert score(np.column_stack([table[:, 0], np.zeros(60)]), "hics") == 0


# ---------------------------------------------------------------- total correlation


@given(with_copies(rows=(3, 80)), st.integers(2, 9))
def test_total_correlation_of_bins_equals_the_naive_version(table, bins):
    expected = naive_baselines.total_correlation_of_bins(listed(table), bins)
    assert score(table, "total-correlation", bins=bins) == near(expected)


@given(with_copies(rows=(3, 50), kinds=(*NO_TIES, "dependent")), st.integers(1, 5))
def test_total_correlation_of_neighbors_equals_the_naive_version(table, neighbors):
    assume(no_ties(table))
    expected = naive_baselines.total_correlation_of_neighbors(listed(table), neighbors)
    found = score(table, "total-correlation", estimator="knn", neighbors=neighbors)
    assert found == near(expected)


@given(tables(rows=(4, 60), columns=(2, 2), kinds=NO_TIES, missing=False))
def test_total_correlation_of_two_columns_is_mutual_information(table):
    found = score(table, "total-correlation", estimator="knn")
    assert max(found, 0) == near(score(table, "mutual-information"))


def test_seed_determines_total_correlation_with_ties():
    table = np.round(example_table())
    found = [score(table, "total-correlation", estimator="knn", seed=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


# ---------------------------------------------------------------- quadratic


@given(with_copies(rows=(3, 40)))
def test_quadratic_equals_the_naive_version(table):
    assert score(table, "quadratic") == near(naive_baselines.quadratic(listed(table)))


@settings(max_examples=50)
@given(with_copies(rows=(3, 12), columns=(2, 3)))
def test_quadratic_equals_the_integral(table):
    expected = naive_baselines.quadratic_by_integration(listed(table))
    assert score(table, "quadratic") == near(expected)


# ---------------------------------------------------------------- codec


def distances_are_untied(columns):
    """Return whether every row has one nearest neighbour in the columns without each target."""
    columns = [column for column in naive_baselines.complete(columns) if all_vary(np.c_[column])]
    if len(columns) < 2 or len(columns[0]) < 3:
        return True
    return all(
        len(ranks) == 1
        for t in range(len(columns))
        for ranks in naive_baselines.codec_ranks([*columns[:t], *columns[t + 1 :], columns[t]])
    )


@given(tables(rows=(3, 50), columns=(2, 4), kinds=(*NO_TIES, "constant", "dependent")))
def test_codec_equals_the_naive_version(table):
    assume(distances_are_untied(listed(table)))
    assert score(table, "codec") == near(naive_baselines.codec(listed(table)))


@settings(max_examples=60)
@given(tables(rows=(3, 50), columns=(2, 4), kinds=(*NO_TIES, "ties", "binary")))
def test_codec_with_a_target_equals_the_naive_version_if_only_the_target_has_ties(table):
    table[:, :-1] += np.random.default_rng(0).normal(size=table[:, :-1].shape)
    assert explained(table, "codec") == near(naive_baselines.codec_of_target(listed(table)))


@settings(max_examples=30)
@given(
    tables(rows=(3, 6), columns=(2, 3), kinds=("ties", "binary", "normal"), missing=False),
    st.integers(0, 100),
)
def test_codec_with_ties_is_that_of_some_nearest_neighbours(table, seed):
    columns = listed(table)
    *explaining, target = np.ptp(table, axis=0)
    if target > 0 and max(explaining) > 0:
        choices = product(*map(set, naive_baselines.codec_ranks(columns)))
        possible = {naive_baselines.codec_from_ranks(each, columns[-1]) for each in choices}
    else:
        possible = {0.0}
    assert is_one_of(explained(table, "codec", seed=seed), possible)


def tables_with_tied_distances():
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, 40))
    lattice = np.column_stack([rng.permutation(40), x]).astype(float)
    with_missing = np.column_stack([np.round(x), np.round(y), np.round(x + y)])
    with_missing[rng.random(with_missing.shape) < 0.1] = np.nan
    return {
        "equal distances": lattice,
        "equal rows": np.column_stack([x > 0, y > 1, x * y]).astype(float),
        "some equal rows": np.column_stack([np.round(x), np.round(2 * y), x + y + z]),
        "zeros": np.column_stack([np.where(x > 0, x, 0), np.where(y > 0, y, 0), x + y]),
        "missing": with_missing,
        "sorted by the target": np.column_stack([x > 0, y > 0, np.sort(z)]).astype(float),
    }


@pytest.mark.parametrize("of", tables_with_tied_distances())
def test_codec_with_ties_is_on_average_the_expected_value(of):
    table = tables_with_tied_distances()[of]
    found = [explained(table, "codec", seed=seed) for seed in range(400)]
    expected = naive_baselines.codec_of_target(listed(table))
    assert np.std(found) > 0
    assert np.mean(found) == pytest.approx(expected, abs=3 * np.std(found) / math.sqrt(399))


def test_codec_of_two_columns_is_the_larger_direction():
    x = np.linspace(-1, 1, 1001) ** 3
    table = np.column_stack([x, x**2])
    directions = explained(table, "codec"), explained(table[:, ::-1], "codec")
    assert directions[0] > 0.95
    # The nearest row has the other sign. This costs n^2 / 4 ranks, of n^2 / 6 without dependence.
    assert directions[1] == pytest.approx(-0.5, abs=0.01)
    assert score(table, "codec") == max(directions)


def test_codec_without_a_target_is_the_maximum_over_targets():
    rng = np.random.default_rng(0)
    table = rng.random((300, 3))
    table[:, 1] = np.round(6 * (table[:, 0] + table[:, 2]) % 1, 1)
    by_target = [explained(np.roll(table, 2 - t, axis=1), "codec") for t in range(3)]
    assert np.argmax(by_target) == 1
    assert score(table, "codec") == near(max(by_target), 1e-12)


def test_codec_is_0_if_independent_and_1_for_a_function():
    rng = np.random.default_rng(0)
    independent = [explained(rng.normal(size=(500, 3)), "codec") for _ in range(60)]
    assert np.mean(independent) == pytest.approx(0, abs=3 * np.std(independent) / math.sqrt(59))
    assert np.std(independent) < 0.1
    # y depends on both columns and is independent of each of them.
    a, b = rng.random((2, 20_000))
    table = np.column_stack([a, b, (a + b) % 1])
    assert explained(table, "codec") > 0.95
    assert explained(table[:, [0, 2]], "codec") == pytest.approx(0, abs=0.03)
    group = rng.integers(0, 5, 400).astype(float)
    assert explained(np.column_stack([group, group**2 % 3]), "codec") == 1.0


def test_an_extreme_cell_hardly_changes_codec():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    table[:, 2] = table[:, 0] + table[:, 1]
    expected = explained(table, "codec")
    table[0, :2] = 1e6
    assert explained(table, "codec") == pytest.approx(expected, abs=0.1)
    table[0, 0] = 1e300
    assert math.isfinite(explained(table, "codec"))


# ---------------------------------------------------------------- pairs


@given(with_copies(rows=(3, 80), columns=(2, 2)))
def test_pearson_and_spearman_equal_the_naive_versions(table):
    assert score(table, "pearson") == near(naive_baselines.pearson(*listed(table)))
    assert score(table, "spearman") == near(naive_baselines.spearman(*listed(table)))


@needs("distance-correlation")
@given(with_copies(rows=(3, 80), columns=(2, 2), kinds=PLAIN))
def test_distance_correlation_equals_the_naive_version(table):
    expected = naive_baselines.distance_correlation(*listed(table))
    # Squares, because the root magnifies the rounding error of a covariance near 0.
    assert score(table, "distance-correlation") ** 2 == near(expected**2)


@given(tables(rows=(3, 80), columns=(2, 2), kinds=NO_TIES))
def test_xi_equals_the_naive_version(table):
    assert score(table, "xi") == near(naive_baselines.xi(*listed(table)))


@settings(max_examples=20)
@given(tables(rows=(3, 6), columns=(2, 2), kinds=("ties", "binary", "normal"), missing=False))
def test_xi_with_ties_is_that_of_some_order_of_rows(table):
    directions = [(x, y) for x, y in (listed(table), listed(table)[::-1])]
    possible = [
        [naive_baselines.xi_of_direction(*map(list, zip(*rows, strict=True))) for rows in orders]
        for orders in ([*permutations(zip(x, y, strict=True))] for x, y in directions)
        if all_vary(table)
    ]
    for seed in range(3):
        found = score(table, "xi", seed=seed)
        if all_vary(table):
            assert is_one_of(found, {max(both) for both in product(*map(set, possible))})
        else:
            assert found == 0.0


@given(tables(rows=(3, 60), columns=(2, 2), kinds=NO_TIES), st.integers(1, 5))
def test_mutual_information_equals_the_naive_version(table, neighbors):
    expected = naive_baselines.mutual_information(*listed(table), neighbors)
    assert score(table, "mutual-information", neighbors=neighbors) == near(expected)


scales = st.sampled_from([None, "median"])


@needs("hsic")
@given(with_copies(rows=(3, 80), columns=(2, 2), kinds=PLAIN), scales)
def test_hsic_equals_the_naive_version(table, scale):
    assume(hsic_is_defined(table, scale))
    assert score(table, "hsic", scale=scale) == near(naive_baselines.hsic(*listed(table), scale))


@needs("dhsic")
@given(with_copies(rows=(3, 80), kinds=PLAIN), scales)
def test_dhsic_equals_the_naive_version(table, scale):
    assert score(table, "dhsic", scale=scale) == near(naive_baselines.dhsic(listed(table), scale))


# ---------------------------------------------------------------- nominal columns


@st.composite
def pairs_with_levels(draw, kinds=("normal", "ties"), rows=(3, 80), both=False):
    """Draw a nominal column and another one; both with missing cells in some tables.

    The other one is nominal too if ``both``, and otherwise a column of one of the kinds.
    """
    cells = draw(tables(rows=rows, columns=(2, 2), kinds=kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = np.isnan(cells)
    n_levels = draw(st.integers(1, 12))
    cells[:, 0] = rng.integers(0, n_levels, len(cells))
    if both:
        cells[:, 1] = np.where(rng.random(len(cells)) < 0.5, cells[:, 0] // 2, cells[:, 1] > 0)
    cells[missing] = np.nan
    nominal = {"a", "b"} if both else {"a"}
    order = draw(st.permutations(["a", "b"]))
    return reordered(as_table({"a": cells[:, 0], "b": cells[:, 1]}, nominal), *order)


def flags(table):
    return tuple(prepare(table).nominal.tolist())


def cells_of(table):
    return [column.values.tolist() for column in table.columns]


some_pairs = st.one_of(pairs_with_levels(), pairs_with_levels(both=True))


@given(some_pairs, st.sampled_from([3, 10]))
def test_cramers_v_and_theils_u_of_levels_equal_the_naive_versions(table, bins):
    arguments = *cells_of(table), flags(table), bins
    expected = naive_baselines.cramers_v(*arguments)
    # Squares, because the root magnifies the rounding error of an association near 0.
    assert score(table, "cramers-v", bins=bins) ** 2 == near(expected**2)
    assert score(table, "theils-u", bins=bins) == near(naive_baselines.theils_u(*arguments))
    found = find_measure("theils-u", bins=bins).score_set(prepare(table), [0], 1)
    assert found == near(naive_baselines.theils_u(*arguments, target=True))


@given(with_copies(rows=(3, 80), columns=(2, 2)), st.sampled_from([3, 10, 30]))
def test_cramers_v_and_theils_u_of_numbers_equal_the_naive_versions(table, bins):
    expected = naive_baselines.cramers_v(*listed(table), bins=bins)
    assert score(table, "cramers-v", bins=bins) ** 2 == near(expected**2)
    expected = naive_baselines.theils_u(*listed(table), bins=bins)
    assert score(table, "theils-u", bins=bins) == near(expected)


@needs("phik")
@settings(max_examples=25)
@given(some_pairs, st.sampled_from([4, 10]))
def test_phik_equals_the_naive_version(table, bins):
    expected = naive_baselines.phik(*cells_of(table), flags(table), bins)
    found = score(table, "phik", bins=bins)
    # Near 1, the integrand of the naive version is too steep.
    assert found == pytest.approx(expected, abs=1e-4 if found < 0.98 else 5e-3)


@needs("phik")
@settings(max_examples=25)
@given(some_pairs)
def test_phik_equals_the_package(table):
    from phik import phik_from_array

    prepared = prepare(table)
    rows = ~np.isnan(np.array(cells_of(table))).any(axis=0)
    x, y = (np.asarray(each)[rows] for each in cells_of(table))
    assume(x.size > 2 and np.ptp(x) > 0 and np.ptp(y) > 0)
    numbers = [name for name, flag in zip("xy", prepared.nominal, strict=True) if not flag]
    expected = phik_from_array(x, y, num_vars=numbers)
    assert score(table, "phik") == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("neighbors", [1, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_mutual_information_with_levels_equals_the_naive_version(seed, neighbors):
    # In levels with fewer rows, rounding errors of scikit-learn decide which rows are closer.
    rng = np.random.default_rng(seed)
    levels = rng.permutation(np.repeat(np.arange(5.0), [1, 1, 12, 15, 20 + seed]))
    numbers = rng.normal(size=levels.size) + (levels == 3) * (seed % 3)
    table = as_table({"a": np.append(levels, [np.nan, 2]), "x": [*numbers, 1, np.nan]}, {"a"})
    expected = naive_baselines.mutual_information_with_levels(*cells_of(table), neighbors)
    assert score(table, "mutual-information", neighbors=neighbors) == near(expected)


def test_mutual_information_if_each_row_has_a_level_of_its_own_is_0():
    table = as_table({"a": np.arange(9), "x": np.arange(9) ** 2}, {"a"})
    assert score(table, "mutual-information") == 0.0


@given(pairs_with_levels(both=True))
def test_mutual_information_of_levels_equals_that_of_frequencies(table):
    assume(any(flags(table)))
    columns = naive_baselines.complete(cells_of(table))
    expected = naive_baselines.mutual_information_of_frequencies(*columns)
    if len(columns[0]) < 3:
        expected = 0.0
    assert score(table, "mutual-information") == near(expected)


@pytest.mark.parametrize("seed", range(5))
def test_mutual_information_with_levels_equals_scikit_learn(seed):
    table = nominal_table(seed)
    colour, shape, x, two, _ = (column.values for column in table.columns)
    found = covary.score(table, ["colour", "shape"], measure="mutual-information")
    expected = mutual_info_classif(shape[:, None], colour, discrete_features=True)[0]
    assert found == near(expected, 1e-12)
    found = covary.score(table, ["two", "colour"], measure="mutual-information")
    expected = mutual_info_classif(two[:, None], colour, discrete_features=True)[0]
    assert found == near(expected, 1e-12)
    for k in (1, 3, 7):
        found = covary.score(
            table, ["colour", "x"], measure="mutual-information", neighbors=k, seed=seed
        )
        expected = mutual_info_classif(x[:, None], colour, n_neighbors=k, random_state=seed)[0]
        assert found == near(expected, 1e-12)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(3, 300), st.sampled_from([0.0, 0.2]))
def test_total_correlation_with_levels_equals_the_naive_version(seed, n_rows, missing):
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, rng.integers(1, n_rows + 1, 3)[:, None], (3, n_rows)).astype(float)
    cells = {"a": a, "b": b, "c": a + c, "x": rng.normal(size=n_rows), "y": np.round(b / 3)}
    for values in cells.values():
        values[rng.random(n_rows) < missing] = np.nan
    table = as_table(cells, {"a", "b", "c"})
    nominal = np.flatnonzero(prepare(table).nominal).tolist()
    columns = list(cells.values())
    expected = naive_baselines.total_correlation_of_bins(columns, nominal=nominal)
    assert score(table, "total-correlation") == near(expected)
    *others, target = range(5)
    measure = find_measure("total-correlation")
    among_others = naive_baselines.total_correlation_of_bins(columns[:-1], nominal=nominal)
    found = measure.score_set(prepare(table), others, target)
    assert found == near(expected - among_others)


def test_total_correlation_of_an_identifier_is_0():
    rng = np.random.default_rng(0)
    cells = {"row": rng.permutation(200), "twice": np.arange(200) // 2, "x": rng.normal(size=200)}
    table = as_table(cells, {"row", "twice"})
    assert covary.score(table, measure="total-correlation") == 0.0


NOMINAL_PAIRWISE = ["cramers-v", "mutual-information", "phik", "theils-u"]


@named([*NOMINAL_PAIRWISE, "total-correlation"])
@settings(max_examples=30)
@given(table=some_pairs, seed=st.integers(0, 99))
def test_numbering_of_levels_and_order_of_columns_do_not_change_a_bit(name, table, seed):
    assume(any(flags(table)))
    expected = score(table, name)
    assert score(renumbered(table, seed), name) == expected
    assert score(reordered(table, *table.names[::-1]), name) == expected


@named(NOMINAL_PAIRWISE)
def test_a_copy_of_levels_has_the_largest_score(name):
    rng = np.random.default_rng(0)
    for n_levels in (3, 7, 40):
        a = rng.integers(0, n_levels, 150)
        copied = as_table({"a": a, "b": (a + 1) % n_levels}, {"a", "b"})
        expected = naive_baselines.entropy(a.tolist()) if name == "mutual-information" else 1.0
        assert score(copied, name) == near(expected, 1e-12)
        noisy = as_table({"a": a, "b": np.where(rng.random(150) < 0.2, 0, a)}, {"a", "b"})
        assert score(noisy, name) < score(copied, name)


@named(["cramers-v", "phik"])
@pytest.mark.parametrize("n_levels", [3, 12])
def test_measures_that_are_corrected_for_chance_are_near_0_if_independent(name, n_levels):
    rng = np.random.default_rng(n_levels)
    found = []
    for _ in range(40):
        cells = dict(zip("ab", rng.integers(0, n_levels, (2, 300)), strict=True))
        found.append(score(as_table(cells, {"a", "b"}), name))
    assert np.median(found) < 0.1
    assert np.mean(np.array(found) == 0.0) > 0.25


def test_expected_association_of_independent_levels_is_0():
    # Without the maximum with 0, Bergsma's correction leaves no bias.
    rng = np.random.default_rng(0)
    n, r, c = 60, 4, 5
    found = []
    for _ in range(400):
        x, y = rng.integers(0, r, n), rng.integers(0, c, n)
        table = naive_baselines.contingency_table(x.tolist(), y.tolist())
        phi = naive_baselines.chi_squared(table) / n
        found.append(phi - (len(table) - 1) * (len(table[0]) - 1) / (n - 1))
    assert np.mean(found) == pytest.approx(0, abs=3 * np.std(found) / math.sqrt(399))


def test_theils_u_has_a_direction():
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 8, 400)
    table = as_table({"fine": fine, "coarse": fine // 2}, {"fine", "coarse"})
    forward = covary.score(table, ["fine"], target="coarse", measure="theils-u")
    backward = covary.score(table, ["coarse"], target="fine", measure="theils-u")
    assert forward == near(1.0, 1e-12)
    entropies = [naive_baselines.entropy(each) for each in cells_of(table)]
    assert backward == near(entropies[1] / entropies[0], 1e-12)
    harmonic = 2 / (1 / forward + 1 / backward)
    assert score(table, "theils-u") == near(harmonic, 1e-12)


@named(NOMINAL_PAIRWISE)
def test_each_pair_with_levels_uses_its_own_complete_rows(name):
    table = nominal_table(missing=0.2)
    pair = reordered(table, "colour", "shape")
    complete = with_rows(pair, ~np.isnan(cells_of(pair)).any(axis=0))
    assert score(pair, name) == near(score(complete, name), 1e-12)
    assert covary.score(table, ["colour", "shape"], measure=name) == score(pair, name)


@named([*NOMINAL_PAIRWISE, "total-correlation"])
def test_constants_and_levels_that_never_meet(name):
    a = np.arange(60.0) % 4
    constant = as_table({"a": a, "b": np.zeros(60)}, {"a", "b"})
    assert score(constant, name) == 0.0
    half = np.arange(60) < 30
    apart = {"a": np.where(half, a, np.nan), "b": np.where(half, np.nan, a)}
    found = score(as_table(apart, {"a", "b"}), name)
    # Missing cells are a bin of total correlation.
    assert (found > 0.5) if name == "total-correlation" else (found == 0.0)
    # In the complete rows, one column has a single level.
    alone = {"a": np.where(half, 0.0, a), "b": np.where(half, a, np.nan)}
    if name != "total-correlation":
        assert score(as_table(alone, {"a", "b"}), name) == 0.0


@named(NOMINAL_PAIRWISE)
def test_as_many_levels_as_rows(name):
    rows = np.arange(150.0)
    x = np.random.default_rng(0).normal(size=150)
    found = score(as_table({"a": rows, "x": x}, {"a"}), name)
    # Theil's U of an identifier is I / mean entropy, with I the entropy of the ten bins.
    expected = math.log(10) / ((math.log(10) + math.log(150)) / 2)
    assert found == (near(expected) if name == "theils-u" else 0.0)


@needs("phik")
def test_phik_pools_the_rarest_of_more_than_100_levels():
    rng = np.random.default_rng(0)
    a = np.minimum(rng.geometric(0.02, 3000), 400)
    b = rng.integers(0, 3, 3000)
    counts = np.bincount(a)
    order = sorted(set(a.tolist()), key=lambda v: (-counts[v], a.tolist().index(v)))
    assert len(order) > 100
    pooled = [order.index(v) if order.index(v) < 99 else 99 for v in a.tolist()]
    found = score(as_table({"a": a, "b": (a + b) % 3}, {"a", "b"}), "phik")
    expected = score(as_table({"a": pooled, "b": (a + b) % 3}, {"a", "b"}), "phik")
    assert found == near(expected, 1e-12)


def test_missing_packages_are_named(monkeypatch):
    """The package of the measure, or one that this package needs."""
    table = example_table()[:, :2]
    for absent in ("phik", "pandas"):
        _load.cache_clear()
        for module in [m for m in sys.modules if m.partition(".")[0] == "phik"]:
            monkeypatch.delitem(sys.modules, module)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, absent, None)
            message = f"'phik' needs the package {absent}: pip install 'covary\\[baselines\\]'"
            with pytest.raises(covary.CovaryError, match=message):
                score(table, "phik")
    _load.cache_clear()


# ---------------------------------------------------------------- libraries

for_libraries = tables(rows=(5, 80), columns=(2, 2), kinds=("normal", "ties", "dependent"))


@settings(max_examples=60)
@given(for_libraries)
def test_pearson_spearman_and_xi_equal_scipy(table):
    complete = complete_rows(table)
    assume(len(complete) > 4 and all_vary(complete))
    x, y = complete.T
    assert score(table, "pearson") == near(abs(stats.pearsonr(x, y).statistic), 1e-12)
    assert score(table, "spearman") == near(abs(stats.spearmanr(x, y).statistic), 1e-12)
    if no_ties(table):
        both_ways = stats.chatterjeexi(x, y).statistic, stats.chatterjeexi(y, x).statistic
        assert score(table, "xi") == near(max(both_ways), 1e-12)


@settings(max_examples=60)
@given(for_libraries, st.integers(1, 4), st.integers(0, 9))
def test_mutual_information_equals_scikit_learn(table, neighbors, seed):
    complete = complete_rows(table)
    assume(len(complete) > 4 and all_vary(complete))
    x, y = complete.T
    expected = mutual_info_regression(x[:, None], y, n_neighbors=neighbors, random_state=seed)[0]
    found = score(table, "mutual-information", neighbors=neighbors, seed=seed)
    assert found == near(expected, 1e-12)


@needs("distance-correlation")
@settings(max_examples=60)
@given(for_libraries)
def test_distance_correlation_equals_dcor(table):
    import dcor

    complete = complete_rows(table)
    assume(len(complete) > 4 and all_vary(complete))
    expected = dcor.distance_correlation(*complete.T)
    assume(expected > 1e-4)  # below, rounding errors dominate
    assert score(table, "distance-correlation") == near(expected, 1e-12)


@needs("hsic")
@settings(max_examples=60)
@given(for_libraries)
def test_hsic_equals_hyppo(table):
    complete = complete_rows(table)
    assume(len(complete) > 4 and all_vary(complete) and hsic_is_defined(table, least=1e-2))
    expected = hyppo_measures()[0].statistic(complete[:, :1], complete[:, 1:])
    assert score(table, "hsic") == near(expected, 1e-12)


@needs("dhsic")
@settings(max_examples=60)
@given(tables(rows=(3, 80), kinds=("normal", "ties", "dependent", "binary")))
def test_dhsic_equals_hyppo(table):
    complete = complete_rows(table)
    assume(len(complete) > 2 and all_vary(complete))
    expected = hyppo_measures()[1].statistic(*(column[:, None] for column in complete.T))
    assert score(table, "dhsic") == near(expected, 1e-12)


# ---------------------------------------------------------------- invariances


def exact_table(name, seed, *, tied):
    """Return a table of multiples of 2^-30, for which shifts and powers of two are exact."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 2 if name in PAIRWISE else 4))
    x[:, 1] += x[:, 0] ** 2
    table = np.round(x, 1) if tied else x
    table = np.round(table * 2**30) / 2**30
    if seed % 2:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table


@parametrized(UNIT_FREE)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tied", [False, True])
def test_units_do_not_matter(name, parameters, seed, tied):
    if tied and (name == "mutual-information" or "knn" in parameters.values()):
        pytest.skip("random noise separates equal values")
    table = exact_table(name, seed, tied=tied)
    units = np.array([4.0, 0.125, 2.0**20, 1.0])[: table.shape[1]]
    shifts = np.array([-3.0, 1000.0, 5.0 * 2**20, 0.0])[: table.shape[1]]
    expected = score(table, name, **parameters)
    assert score(table * units + shifts, name, **parameters) == near(expected)


@parametrized(UNIT_FREE)
def test_large_offsets_do_not_matter(name, parameters):
    table = np.round(exact_table(name, 0, tied=False) * 2**20) / 2**20
    expected = score(table, name, **parameters)
    assert score(table + 2.0**30, name, **parameters) == near(expected, 1e-6)


@parametrized([("cmi", {}), ("hsic", {}), ("dhsic", {})])
def test_units_matter_without_scale(name, parameters):
    table = exact_table(name, 0, tied=False)[:, :2]
    assert score(table * [64, 1], name, **parameters) != near(score(table, name), 1e-3)


@parametrized(RANKS_ONLY)
@settings(max_examples=40)
@given(table=with_copies(rows=(3, 80), columns=(2, 4)))
def test_only_ranks_matter(name, parameters, table):
    if name in PAIRWISE:
        table = table[:, :2]
    ranks = table.copy()
    for column in ranks.T:
        present = ~np.isnan(column)
        column[present] = np.unique(column[present], return_inverse=True)[1] ** 3
    expected = score(table, name, **parameters)
    assert score(ranks, name, **parameters) == near(expected, 1e-12)


@parametrized(ANY_ORDER)
@settings(max_examples=20)
@given(
    table=with_copies(rows=(3, 60), columns=(2, 4), kinds=PLAIN),
    chance=st.randoms(use_true_random=False),
)
def test_order_of_columns_does_not_matter(name, parameters, table, chance):
    if name in PAIRWISE:
        table = table[:, :2]
    if name == "hsic":
        assume(hsic_is_defined(table, "median"))
    columns = chance.sample(range(table.shape[1]), table.shape[1])
    expected = score(table, name, **parameters)
    assert score(table[:, columns], name, **parameters) == near(expected)


@parametrized(ANY_ORDER_OF_ROWS)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_order_of_rows_does_not_matter(name, parameters, tied, seed):
    if tied and (name in ("codec", "hics", "mcde") or "knn" in parameters.values()):
        pytest.skip("equal values are put into random order")
    table = exact_table(name, seed, tied=tied)
    rows = np.random.default_rng(seed).permutation(len(table))
    expected = score(table, name, **parameters)
    assert score(table[rows], name, **parameters) == near(expected)


@parametrized(
    [
        ("cmi", {}),
        ("codec", {}),
        ("mac", {}),
        ("total-correlation", {}),
        ("total-correlation", {"estimator": "knn"}),
        ("quadratic", {}),
        ("dhsic", {}),
    ]
)
@pytest.mark.parametrize("seed", range(4))
def test_a_constant_column_does_not_change_the_score(name, parameters, seed):
    table = exact_table(name, seed, tied=False)
    constant = np.full((len(table), 1), 0.1)
    expected = score(table, name, **parameters)
    assert score(np.hstack([table, constant]), name, **parameters) == near(expected, 1e-12)


@named(BASELINES)
def test_constant_columns_score_0(name):
    constant = np.full(60, 0.1)
    x = example_table()[:, 0]
    assert score(np.column_stack([x, constant]), name) == pytest.approx(0, abs=1e-12)
    assert score(np.column_stack([constant, x]), name) == pytest.approx(0, abs=1e-12)
    assert score(np.column_stack([constant, constant]), name) == pytest.approx(0, abs=1e-12)


@named(BASELINES)
def test_table_without_complete_rows(name):
    table = example_table()[:, :2].copy()
    table[::2, 0] = np.nan
    table[1::2, 1] = np.nan
    if name in ("mac", "total-correlation", "hics", "mcde"):
        low, high = find_measure(name).bounds
        assert low <= score(table, name) <= high
    else:
        assert score(table, name) == 0


@parametrized([*UNIT_FREE, ("cmi", {}), ("hsic", {}), ("dhsic", {})])
@settings(max_examples=20)
@given(table=with_copies(rows=(3, 60), columns=(2, 4)))
def test_scores_are_within_their_bounds(name, parameters, table):
    if name in PAIRWISE:
        table = table[:, :2]
    low, high = find_measure(name).bounds
    found = score(table, name, **parameters)
    assert math.isfinite(found)
    assert found <= high
    if parameters.get("estimator") != "knn":
        assert found >= low


# ---------------------------------------------------------------- pairs only


@named(PAIRWISE)
def test_more_than_two_columns_need_an_aggregate(name):
    with pytest.raises(covary.CovaryError, match=rf"{name}.*aggregate"):
        score(example_table()[:, :3], name)


@named(PAIRWISE)
@pytest.mark.parametrize(("aggregate", "of"), [("mean", np.mean), ("max", max), ("min", min)])
def test_aggregate_combines_all_pairs(name, aggregate, of):
    table = example_table()
    table[np.random.default_rng(0).random(table.shape) < 0.1] = np.nan
    pairs = [score(table[:, pair], name) for pair in combinations(range(4), 2)]
    assert score(table, name, aggregate=aggregate) == near(of(pairs), 1e-12)


@named(PAIRWISE)
@pytest.mark.parametrize("strategy", ["beam", "exhaustive"])
def test_search_with_a_pairwise_measure_scores_pairs(name, strategy):
    found = covary.search(example_table(), measure=name, strategy=strategy)
    assert len(found.subspaces) == 6
    assert {len(subspace.columns) for subspace in found.subspaces} == {2}


@named(PAIRWISE)
def test_a_search_for_larger_sets_needs_an_aggregate(name):
    with pytest.raises(covary.CovaryError, match=rf"{name}.*aggregate"):
        covary.search(example_table(), measure=name, max_size=3)
    found = covary.search(example_table(), measure=name, max_size=3, aggregate="mean")
    assert {len(subspace.columns) for subspace in found.subspaces} == {2, 3}


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        ("CMI", {"scale": "x"}),
        ("CODEC", {"seed": -1}),
        ("MAC", {"beta": 1}),
        ("MAC", {"epsilon": 2}),
        ("MAC", {"epsilon": -0.5}),
        ("HiCS", {"slices": 0}),
        ("HiCS", {"slices": 2.5}),
        ("HiCS", {"alpha": 0}),
        ("HiCS", {"alpha": 1.5}),
        ("HiCS", {"alpha": math.nan}),
        ("HiCS", {"test": "x"}),
        ("HiCS", {"seed": -1}),
        ("MCDE", {"slices": 0}),
        ("MCDE", {"alpha": 0}),
        ("MCDE", {"alpha": 1.5}),
        ("MCDE", {"beta": 0}),
        ("MCDE", {"beta": 1}),
        ("MCDE", {"beta": 1.5}),
        ("MCDE", {"seed": -1}),
        ("TotalCorrelation", {"estimator": "x"}),
        ("TotalCorrelation", {"bins": 1}),
        ("TotalCorrelation", {"neighbors": 0}),
        ("TotalCorrelation", {"seed": -1}),
        ("DHSIC", {"scale": "x"}),
        ("HSIC", {"scale": "x"}),
        ("HSIC", {"aggregate": "median"}),
        ("DistanceCorrelation", {"aggregate": "median"}),
        ("Pearson", {"aggregate": "median"}),
        ("Spearman", {"aggregate": "median"}),
        ("Xi", {"aggregate": "median"}),
        ("MutualInformation", {"aggregate": "median"}),
        ("MutualInformation", {"neighbors": 0}),
        ("MutualInformation", {"seed": -1}),
        ("CramersV", {"bins": 1}),
        ("CramersV", {"bins": 255}),
        ("CramersV", {"aggregate": "median"}),
        ("TheilsU", {"bins": 1}),
        ("TheilsU", {"aggregate": "median"}),
        ("PhiK", {"bins": 1}),
        ("PhiK", {"bins": 101}),
        ("PhiK", {"aggregate": "median"}),
    ],
    ids=str,
)
def test_invalid_parameters_raise_an_error(cls, parameters):
    (name,) = parameters
    with pytest.raises(ParameterError, match=name):
        getattr(covary, cls)(**parameters)


# ---------------------------------------------------------------- public functions


@named(BASELINES)
def test_matrix_search_and_test_agree_with_score(name):
    table = example_table()
    pair = covary.score(table, columns=[0, 1], measure=name)
    matrix = covary.matrix(table, measure=name)
    assert matrix[0, 1] == matrix[1, 0] == pair
    assert pair == score(table[:, :2], name)
    max_size = None if name in PAIRWISE else 3
    found = covary.search(table, measure=name, top=3, max_size=max_size)
    scores = [subspace.score for subspace in found.subspaces]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    for subspace in found.subspaces:
        columns = [int(str(column).removeprefix("x")) for column in subspace.columns]
        assert subspace.score == score(table[:, columns], name)
    tested = covary.test(table, columns=[0, 1], measure=name, permutations=19)
    assert tested.score == pair
    assert tested.pvalue in [near(k / 20) for k in range(1, 21)]


@named(BASELINES)
def test_class_without_arguments_is_the_named_measure(name):
    registered = all_measures()[name]
    assert getattr(covary, registered.cls.__name__) is registered.cls
    assert registered.cls().score(example_table()[:, :2]) == score(example_table()[:, :2], name)
    assert registered.cls().name == name


# ---------------------------------------------------------------- power


def pvalue(x, y, name):
    return covary.test(np.column_stack([x, y]), measure=name, permutations=99).pvalue


@named(BASELINES)
def test_linear_relation_is_significant(name):
    x, noise = np.random.default_rng(0).normal(size=(2, 100))
    assert pvalue(x, x + noise / 10, name) <= 0.05


@named(sorted({*BASELINES} - {"pearson", "spearman"}))
def test_parabola_is_significant(name):
    x = np.arange(-50.0, 51.0)
    assert pvalue(x, x**2, name) <= 0.05


@named(["pearson", "spearman"])
def test_correlations_do_not_detect_a_parabola(name):
    x = np.arange(-50.0, 51.0)
    assert score(np.column_stack([x, x**2]), name) == pytest.approx(0, abs=1e-9)
    assert pvalue(x, x**2, name) > 0.5


# ---------------------------------------------------------------- targets


def explained(table, name, **parameters):
    """Return the score with the last column as the target."""
    measure = find_measure(name, **parameters)
    last = table.shape[1] - 1
    return measure.score_set(prepare(table), list(range(last)), target=last)


WITH_TARGET = [n for n in BASELINES if n not in ("dhsic", "mac", "quadratic")]


@named(BASELINES)
def test_target_is_accepted_or_raises_an_error(name):
    table = example_table()
    if name in WITH_TARGET:
        found = covary.search(table, measure=name, target="x1", max_size=2, permutations=19)
        assert found[0].columns == ("x0", "x1")
        assert covary.test(table, ["x0"], measure=name, target="x1").pvalue < 0.05
    else:
        with pytest.raises(ParameterError, match=f"'{name}' cannot compute the explained"):
            covary.search(table, measure=name, target="x1")


@named([n for n in PAIRWISE if n not in ("theils-u", "xi")])
def test_pairwise_measures_with_a_target_score_pairs(name):
    table = example_table()[:, :3]
    pairs = [score(table[:, [c, 2]], name) for c in (0, 1)]
    assert explained(table[:, [0, 2]], name) == pairs[0]
    assert explained(table, name, aggregate="max") == max(pairs)
    assert explained(table, name, aggregate="min") == min(pairs)


@given(tables(rows=(5, 40), columns=(2, 2), kinds=NO_TIES))
def test_xi_with_a_target_uses_one_direction(table):
    rows = complete_rows(table)
    assume(len(rows) > 2 and all_vary(rows))
    assert explained(table, "xi") == near(stats.chatterjeexi(rows[:, 0], rows[:, 1]).statistic)


@settings(max_examples=50)
@given(tables(rows=(4, 40), columns=(2, 4), kinds=NO_TIES))
def test_cmi_with_a_target_uses_clusters_of_the_others(table):
    *others, target = naive_baselines.complete(listed(table))
    assume(len(target) > 1)
    others.sort(key=lambda column: -naive.cumulative_entropy(column))
    labels = naive_baselines.clusters(others)
    cells = [[r for r, its in enumerate(labels) if its == label] for label in set(labels)]
    gain = naive.cumulative_entropy(target) - naive.conditional_entropy(target, cells)
    assert explained(table, "cmi") == near(gain / math.log(2))


@given(tables(rows=(3, 60), columns=(2, 4)))
def test_total_correlation_with_a_target_is_mutual_information(table):
    columns = listed(table)
    together = naive_baselines.total_correlation_of_bins(columns)
    among_others = naive_baselines.total_correlation_of_bins(columns[:-1])
    assert explained(table, "total-correlation") == near(together - among_others)


def test_neighbours_with_a_target_use_joint_distances_of_the_others():
    table = np.random.default_rng(3).normal(size=(30, 3))
    table[:, 2] += table[:, 0] * table[:, 1]
    scaled = table / table.std(axis=0)
    apart = np.abs(scaled[:, None] - scaled[None])
    far = np.sort(apart.max(axis=2), axis=1)[:, 3]
    sides = [apart[:, :, :2].max(axis=2), apart[:, :, 2]]
    nearer = [digamma((side < far[:, None]).sum(axis=1)).mean() for side in sides]
    expected = digamma(3) + digamma(30) - sum(nearer)
    assert explained(table, "total-correlation", estimator="knn") == near(expected)


@pytest.mark.parametrize("name", ["hics", "mcde"])
def test_target_is_the_reference_of_all_slices(name):
    table = np.random.default_rng(4).normal(size=(9, 3))
    table[4, 1] = np.nan
    table[:, 2] += table[:, 0]
    *others, target = listed(table)
    if name == "hics":
        blocks = [
            naive_baselines.all_blocks(c, naive_baselines.hics_size(c, 0.1, 3)) for c in others
        ]
        slices = naive_baselines.all_slices(blocks)
        values = [(naive_baselines.deviation(target, i, "ks"), p) for i, p in slices.items()]
    else:
        blocks = [
            naive_baselines.all_blocks(c, naive_baselines.mcde_size(c, 0.5, 3)) for c in others
        ]
        ranges = naive_baselines.all_ranges(target, naive_baselines.mcde_size(target, 0.5, 2))
        values = [
            (naive_baselines.contrast(target, inside, limits), chance / len(ranges))
            for inside, chance in naive_baselines.all_slices(blocks).items()
            for limits in ranges
        ]
    counted = [(value, chance) for value, chance in values if value is not None]
    mean = sum(v * chance for v, chance in counted) / sum(chance for _, chance in counted)
    found = [explained(table, name, slices=1000, seed=seed) for seed in range(100)]
    assert np.mean(found) == pytest.approx(mean, abs=3 * np.std(found) / math.sqrt(99))


@named(WITH_TARGET)
def test_constants_with_a_target_score_0(name):
    x = np.random.default_rng(0).normal(size=30)
    assert explained(np.column_stack([x, np.ones(30)]), name) == 0.0
    assert explained(np.column_stack([np.ones(30), x]), name) == 0.0


# ---------------------------------------------------------------- order of rows


@named([n for n in BASELINES if n not in ("dhsic", "hsic")])
def test_independent_columns_of_a_sorted_table_are_not_significant(name):
    # Rows with equal values must not keep their order, because it depends on the other column.
    pvalues = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = np.column_stack([rng.integers(0, 3, 60), np.sort(rng.normal(size=60))])
        pvalues.append(covary.test(table, measure=name, permutations=19).pvalue)
    assert sum(p <= 0.05 for p in pvalues) <= 6  # exceeded with probability 0.001
    assert np.mean(pvalues) > 0.34


# ---------------------------------------------------------------- extreme numbers


@parametrized(UNIT_FREE)
@pytest.mark.parametrize("factors", [(1e-15, 1.0), (1.0, 1e-15), (1e80, 1e80), (1e-110, 1e-110)])
def test_extreme_units(name, parameters, factors):
    table = example_table()[:, :2]
    expected = score(table, name, **parameters)
    assert score(table * factors, name, **parameters) == near(expected, 1e-6)


@parametrized(UNIT_FREE)
def test_extreme_cell_in_a_dropped_row_does_not_matter(name, parameters):
    if name in ("hics", "mac", "mcde") or parameters.get("bins", name) == "total-correlation":
        pytest.skip("it does not drop rows")
    if name in ("cramers-v", "theils-u"):
        pytest.skip("it cuts a column into bins of all of its rows")
    table = example_table()[:, :2]
    expected = score(table[1:], name, **parameters)
    table[0] = 1e300, np.nan
    assert score(table, name, **parameters) == near(expected, 1e-6)


@parametrized([("hsic", {"scale": "median"}), ("dhsic", {"scale": "median"}), ("hsic", {})])
def test_distance_of_an_outlier_hardly_matters(name, parameters):
    table = example_table()[:, :2]
    table[0, 0] = 1e6
    expected = score(table, name, **parameters)
    table[0, 0] = 1e13
    assert score(table, name, **parameters) == near(expected, 1e-2)
    assert expected > 0.005


def test_cmi_is_proportional_to_the_units():
    table = example_table()
    for factor in (1e-100, 1e9, 1e150):
        assert score(table * factor, "cmi") == near(score(table, "cmi") * factor, 1e-9)


def test_large_scores_can_be_resumed(tmp_path):
    table = example_table() * 1e9
    run = tmp_path / "run.covary"
    first = covary.search(table, measure="cmi", run=run, permutations=19)
    assert first[0].score > 1e8
    assert covary.search(table, measure="cmi", run=run, permutations=19, resume=True) == first


def test_importing_a_package_in_threads_keeps_the_warning_filters():
    code = (
        "import covary, numpy as np, warnings\n"
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "before = warnings.filters[:]\n"
        "table = np.random.default_rng(0).normal(size=(150, 2))\n"
        "with Pool(4) as pool:\n"
        "    list(pool.map(lambda _: covary.score(table, measure='hsic'), range(4)))\n"
        "print(('ignore', None, Warning, None, 0) in warnings.filters)\n"
    )
    pytest.importorskip("hyppo")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_seed_of_a_test_or_a_search_is_also_the_seed_of_the_measure():
    table = example_table()
    assert covary.test(table, measure="hics", seed=3, permutations=9).score == score(
        table, "hics", seed=3
    )
    found = covary.search(table, measure="mcde", seed=3, max_size=2)
    assert found[0].score == covary.score(table, found[0].columns, measure="mcde", seed=3)
    own = covary.search(table, measure=covary.MCDE(seed=4), seed=3, max_size=2)
    assert own[0].score == covary.score(table, own[0].columns, measure="mcde", seed=4)


def test_warning_if_ranges_differ_and_units_matter():
    table = example_table(n_rows=120) * [1.0, 1e4, 1.0, 1.0]
    for name, scale in (("cmi", "range"), ("hsic", "median"), ("dhsic", "median")):
        message = f"'{name}' depends on the units .*scale='{scale}'"
        with pytest.warns(covary.CovaryWarning, match=message):
            covary.score(table, ["x0", "x1"], measure=name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            covary.score(table, ["x0", "x1"], measure=name, scale=scale)


@pytest.mark.slow
@named(BASELINES)
def test_false_positive_rate_under_independence(name):
    pvalues = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n_columns = 2 if name in PAIRWISE else int(rng.integers(2, 5))
        table = rng.normal(size=(50, n_columns))
        if seed % 3 == 1:
            table = np.round(table)
        if seed % 3 == 2:
            table[rng.random(table.shape) < 0.1] = np.nan
        pvalues.append(covary.test(table, measure=name, permutations=19, seed=seed).pvalue)
    # Of 300, 15 are expected, and more than 28 with probability 0.001.
    assert sum(p <= 0.05 for p in pvalues) <= 28
    assert np.mean(pvalues) > 0.45
