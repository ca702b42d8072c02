"""Which columns explain a target together: balanced cells, growing and dropping of columns."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from example_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
from covary import UDSChance
from covary.engines import run_here
from covary.measures.uds_chance import balanced_cells as balanced_cells_module
from covary.measures.uds_chance.balanced_cells import KeptCells, balanced_cells
from covary.measures.uds_chance.selection import Found
from covary.measures.uds_chance.set_scorer import SetScorer
from covary.prepare import prepare

# Functions of three columns a, b, c and of noise, and the explained fractions that must be reached
# with 1,000 and with 10,000 rows.
OF_THREE = {
    "sum modulo 1": (lambda a, b, c, e: (a + b + c) % 1, 0.5, 0.75),
    "sum": (lambda a, b, c, e: a + b + c, 0.78, 0.88),
    "product": (lambda a, b, c, e: (a - 0.5) * (b - 0.5) * (c - 0.5), 0.76, 0.88),
    "sign": (lambda a, b, c, e: np.sign((a - 0.5) * (b - 0.5) * (c - 0.5)) * e, 0.36, 0.45),
}


def table_of_three(kind, seed, n_rows, n_noise=0):
    """Return three uniform columns, noise, and a function of the three as the last column."""
    rng = np.random.default_rng([seed, n_rows])
    columns = rng.random((3, n_rows))
    function, *_ = OF_THREE[kind]
    target = function(*columns, np.abs(rng.normal(size=n_rows)))
    return np.column_stack([columns.T, rng.normal(size=(n_rows, n_noise)), target])


@pytest.mark.parametrize("kind", OF_THREE)
@pytest.mark.parametrize(("n_rows", "n_tables"), [(1000, 6), (10_000, 1)])
def test_three_columns_explain_a_fourth(kind, n_rows, n_tables):
    _, *least = OF_THREE[kind]
    scores = []
    for seed in range(n_tables):
        table = table_of_three(kind, seed, n_rows)
        explanation = covary.explain(table, target=3)
        scores.append(explanation.score)
        (step,) = explanation.steps
        assert sorted(step.by) == ["x0", "x1", "x2"]
        if kind in ("sum modulo 1", "sign"):
            assert all(alone < 0.01 for alone in step.alone)
            for pair in itertools.combinations(range(3), 2):
                assert covary.score(table, pair, target=3) < 0.03
    assert np.mean(scores) >= least[n_rows > 1000]


@pytest.mark.parametrize("kind", OF_THREE)
def test_exactly_three_of_thirteen_columns_are_named(kind):
    right = 0
    for seed in range(8):
        table = table_of_three(kind, seed, 1000, n_noise=10)
        best = covary.search(table, target=13, top=1)[0]
        (step,) = covary.explain(table, target=13).steps
        right += best.columns == ("x0", "x1", "x2", "x13") and sorted(step.by) == [
            "x0",
            "x1",
            "x2",
        ]
    assert right >= 7


def table_of_foci(seed, n_columns, n_rows=2000):
    """Return the example of Azadkia and Chatterjee (2021): four of the columns matter."""
    x = np.random.default_rng([seed, n_columns]).normal(size=(n_rows, n_columns))
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 0] * x[:, 2]) + x[:, 3] ** 2
    return np.column_stack([x, y])


@pytest.mark.parametrize(("n_columns", "n_tables"), [(10, 4), (30, 2), (100, 1)])
def test_the_four_columns_of_the_example_of_foci(n_columns, n_tables):
    for seed in range(n_tables):
        table = table_of_foci(seed, n_columns)
        best = covary.search(table, target=n_columns)[0]
        assert best.columns == ("x0", "x1", "x2", "x3", f"x{n_columns}")


def test_a_target_search_returns_sets_of_up_to_max_size():
    table = table_of_foci(0, 6)
    for max_size in (2, 3, 4, 5):
        found = covary.search(table, target=6, max_size=max_size)
        assert max(len(each.columns) for each in found) == max_size


def test_columns_that_add_nothing_are_not_selected():
    rng = np.random.default_rng(3)
    for _ in range(10):
        x, *noise = rng.normal(size=(6, 1000))
        y = np.sin(2 * x) + 0.3 * rng.normal(size=1000)
        (step,) = covary.explain(np.column_stack([x, *noise, x**3, y]), target=7).steps
        assert step.by in (("x0",), ("x6",))


def test_an_independent_target_is_rarely_explained():
    """The noise level grows with the number of candidates."""
    explained = [
        covary.search(np.random.default_rng(seed).normal(size=(500, 21)), target=20, top=1)[
            0
        ].score
        for seed in range(40)
    ]
    assert sum(score > 0 for score in explained) <= 6
    assert max(explained) < 0.05


def test_a_redundant_column_is_dropped():
    """The sum hides its summands at first; together they explain more."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 4000))
    rough = a + b + c + d + rng.normal(size=4000)
    target = a + b + c + d
    (step,) = covary.explain(np.column_stack([a, b, c, d, rough, target]), target=5).steps
    assert {"x0", "x1", "x2", "x3"} <= set(step.by)


@settings(max_examples=30)
@given(tables(rows=(20, 120), columns=(4, 7)), st.randoms())
def test_explained_fraction_does_not_depend_on_the_order_of_columns_and_rows(table, random):
    n_rows, n_columns = table.shape
    others = list(range(1, n_columns))
    random.shuffle(others)
    rows = list(range(n_rows))
    random.shuffle(rows)
    score = UDSChance().score(table, target=0)
    assert UDSChance().score(table[rows][:, [0, *others]], target=0) == score
    assert UDSChance().score(-table, target=0) == score


@settings(max_examples=40)
@given(tables(rows=(5, 120), columns=(2, 6)), st.sampled_from([1, 2, 3, None]))
def test_explained_fraction_is_a_fraction(table, max_given):
    explanation = UDSChance(max_given=max_given).explain(table, target=0)
    (step,) = explanation.steps
    assert 0.0 <= explanation.score <= 1.0
    assert explanation.score == pytest.approx(step.explained, abs=1e-12)
    assert explanation.score == UDSChance(max_given=max_given).score(table, target=0)
    assert max_given is None or len(step.by) <= max_given
    assert all(0.0 <= each <= 1.0 for each in (*step.alone, *step.adds))
    assert len(step.alone) == len(step.adds) == len(step.by)


def test_what_a_column_adds_is_what_it_explains_beyond_the_others():
    rng = np.random.default_rng(1)
    a, b, noise = rng.normal(size=(3, 2000))
    table = np.column_stack([a, b, a + 2 * b + noise])
    (step,) = covary.explain(table, target=2).steps
    assert step.by == ("x1", "x0")
    for name, alone, adds in zip(step.by, step.alone, step.adds, strict=True):
        (other,) = set(step.by) - {name}
        beyond = covary.score(table, [name], target=2, given=[other])
        assert adds == pytest.approx(beyond, abs=1e-12)
        assert alone == pytest.approx(covary.score(table, [name], target="x2"), abs=0.01)


def test_sets_whose_subsets_show_nothing_are_found():
    rng = np.random.default_rng(0)
    for kind, size in (("xor", 3), ("sum modulo 1", 4)):
        x = rng.random((1000, 12))
        if kind == "xor":
            x[:, 7] = np.sign((x[:, 2] - 0.5) * (x[:, 9] - 0.5)) * rng.random(1000)
        else:
            x[:, 7] = (x[:, 2] + x[:, 9] + x[:, 4]) % 1
        best = covary.search(x, max_size=4, top=1)[0]
        assert set(best.columns) == {"x2", "x7", "x9", "x4"} - ({"x4"} if size == 3 else set())


def test_the_result_says_which_sets_were_not_scored():
    x = np.random.default_rng(0).normal(size=(60, 9))
    everything = covary.search(x, max_size=3)
    assert everything.examined == ((2, 36, 36), (3, 84, 84))
    assert everything.not_examined() == []
    some = covary.search(x, max_size=3, every=50, beam=4)
    (size, scored, possible) = some.examined[1]
    assert (size, possible) == (3, 84)
    assert scored < 84
    assert f"not scored: {84 - scored} of 84 sets of 3 columns" in str(some)


# ---------------------------------------------------------------- kept cells


@pytest.mark.parametrize("moved", [[], [0], [2], [0, 2]])
def test_kept_cells_are_the_balanced_cells_of_the_table(moved):
    rng = np.random.default_rng(0)
    original = prepare(rng.normal(size=(200, 4)))
    original.derived(KeptCells).over(original, (0, 1))
    moves = {column: rng.permutation(200).astype(np.uint32) for column in moved}
    table = original.moved(moves) if moves else original
    kept = table.derived(KeptCells)
    for columns in ((0, 1), (1, 3), (0, 1, 2), (0, 1)):
        found, expected = kept.over(table, columns), balanced_cells(table, columns)
        for one, other in zip(found, expected, strict=True):
            assert all(np.array_equal(*arrays) for arrays in zip(one, other, strict=True))
    assert kept.over(table, (1, 3)) is kept.over(table, (1, 3))
    of_original = original.derived(KeptCells).over(original, (1, 3))
    assert kept.over(table, (1, 3)) is of_original, "the cells of columns that did not move"


def test_kept_cells_take_limited_memory_and_are_not_sent(monkeypatch):
    monkeypatch.setattr(balanced_cells_module, "MAX_BYTES", 20_000)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    table = prepare(np.column_stack([a, a, a, b, b, b]))  # copies have many equally good orders
    kept = table.derived(KeptCells)
    for columns in itertools.combinations(range(6), 3):
        kept.over(table, columns)
        kept_arrays = [array for e in kept._kept.values() for cells in e for array in cells]
        assert sum(array.nbytes for array in kept_arrays) <= 20_000
    assert kept._kept
    moved = table.moved({0: rng.permutation(100).astype(np.uint32)}).derived(KeptCells)
    for each in (kept, moved):
        assert len(pickle.loads(pickle.dumps(each))._kept) == 0


def test_a_condition_that_explains_nothing_has_nothing_in_its_place():
    """The search for given columns in the place of others ends."""
    prepared = prepare(np.random.default_rng(0).normal(size=(100, 4)))
    scorer = SetScorer(prepared, None, target=2, given=(3,))
    ((_, scores),) = scorer.score(np.array([[0, 1]], np.int32), run_here(prepared))
    assert scores[0] == 0.0
    examined = {(0, 1): Found(0.0, 10.0, 5)}
    steps = scorer.selector._put_in_place(2, (3,), (2, 3.0), 4, examined)
    assert list(itertools.islice(steps, 5)) == []
