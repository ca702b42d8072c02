"""A search gives the same sets wherever the columns stand, and finds sets of three."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covary
from covary.measures.shared.content_order import content_hashes, table_order_by_content
from covary.prepare import prepare


def mixed_table(seed, n_rows=90):
    """Return relations, columns with few values (many equal scores), missing cells and noise."""
    rng = np.random.default_rng(seed)
    a, b, c, *noise = rng.normal(size=(6, n_rows))
    coins = rng.integers(0, 2, (2, n_rows)).astype(float)
    columns = [a, b, a * b, c, c + 0.5 * noise[0], (a > 0) * 1.0, *coins, *noise[1:], 2 * c]
    table = pd.DataFrame(np.column_stack(columns))
    table.columns = [f"c{number}" for number in range(table.shape[1])]
    table.loc[rng.random(n_rows) < 0.1, "c9"] = np.nan
    return table


def as_sets(found):
    """Return sets and scores in the order of the result; the order within a set does not count."""
    return [(frozenset(each.columns), each.score) for each in found]


SEARCHES = {
    "exhaustive": {"strategy": "exhaustive", "max_size": 3},
    "default": {},
    "beam": {"every": 0, "beam": 5},
    "one parent": {"every": 0, "beam": 4, "parents": "one"},
    "cliques": {"strategy": "4s"},
    "prune": {"prune": True},
    "sift": {"sift": True, "max_size": 3, "top": 4},
    "target": {"target": "c2"},
    "target, beam": {"target": "c2", "every": 0, "beam": 3},
    "target, sift": {"target": "c2", "sift": True, "top": 3, "max_size": 3},
    "given": {"target": "c0", "given": ["c1"]},
    "uds": {"measure": "uds", "every": 0, "beam": 4},
}


@pytest.mark.parametrize("name", SEARCHES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_columns_changes_neither_sets_nor_scores(name, seed):
    table = mixed_table(seed)
    moved = table[np.random.default_rng(seed + 1).permutation(table.columns)]
    options = {"top": 40, **SEARCHES[name]}
    one, other = (covary.search(each, **options) for each in (table, moved))
    assert as_sets(one) == as_sets(other)
    assert one.scored == other.scored


def test_many_sets_of_noise_score_0_and_are_listed_in_the_same_order():
    table = mixed_table(3)[["c6", "c7", "c8", "c9", "c1"]]
    found = covary.search(table, top=20)
    assert sum(each.score == 0 for each in found) > 5, "otherwise this test shows nothing"
    assert as_sets(found) == as_sets(covary.search(table.iloc[:, ::-1], top=20))


def test_the_order_by_content_depends_neither_on_rows_nor_on_columns():
    table = mixed_table(0)
    rng = np.random.default_rng(1)
    moved = table.iloc[rng.permutation(len(table))][rng.permutation(table.columns)]
    orders = [
        [each.columns[at] for at in table_order_by_content(prepare(each))]
        for each in (table, moved)
    ]
    assert orders[0] == orders[1]


def test_neither_the_order_of_two_values_nor_names_of_levels_change_the_order():
    rng = np.random.default_rng(2)
    table = mixed_table(0)
    table["c5"] = rng.permutation(len(table)) % 2  # equally frequent values
    table["c6"] = np.array(["red", "green", "blue"])[rng.permutation(len(table)) % 3]
    table["c7"] = table["c7"].where(rng.random(len(table)) < 0.9)
    other = table.assign(
        c5=1 - table["c5"],
        c6=table["c6"].map({"red": "lime", "green": "pink", "blue": "cyan"}),
        c7=-100 * table["c7"],
    )
    # Levels are numbered in the order of the rows if they are equally frequent.
    other = other.iloc[rng.permutation(len(table))]
    one, another = prepare(table), prepare(other)
    assert one.nominal.any()
    assert content_hashes(one, range(11)) == content_hashes(another, range(11))
    assert table_order_by_content(one).tolist() == table_order_by_content(another).tolist()
    changed = prepare(table.assign(c5=rng.permutation(table["c5"])))
    assert content_hashes(one, range(11)) != content_hashes(changed, range(11))


def test_columns_whose_values_are_equally_frequent_are_ordered_by_content():
    """Only the order of the two values tells such columns apart."""
    rng = np.random.default_rng(0)
    coins = pd.DataFrame({f"c{at}": rng.permutation(40) % 2 for at in range(6)})
    moved = coins.iloc[rng.permutation(40)][rng.permutation(coins.columns)]
    orders = [
        [each.columns[at] for at in table_order_by_content(prepare(each))]
        for each in (coins, moved)
    ]
    assert orders[0] == orders[1]


def test_equal_columns_have_equal_hashes_and_others_have_not():
    table = mixed_table(0).to_numpy()
    hashes = content_hashes(prepare(np.column_stack([table, table[:, 3]])), range(12))
    assert hashes[3] == hashes[11]
    assert len(set(hashes)) == 10, "c3 and its multiple c10 have equal ranks"


@pytest.mark.parametrize(
    ("n_columns", "seeds"), [(30, range(20)), pytest.param(110, [1], id="beam")]
)
def test_the_product_of_two_independent_columns_is_found_wherever_it_stands(n_columns, seeds):
    """With 110 columns, not all sets of three are scored."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        cells = rng.normal(size=(500 if seed % 2 else 1000, n_columns))
        a, b, product = rng.choice(n_columns, 3, replace=False)
        cells[:, product] = cells[:, a] * cells[:, b]
        found = covary.search(cells, top=10)
        names = {f"x{column}" for column in (a, b, product)}
        assert names in [set(each.columns) for each in found], seed
        size, scored, possible = found.examined[1]
        assert size == 3
        assert (scored == possible) == (n_columns == 30)
