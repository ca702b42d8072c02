"""Strategies, tested with artificial scores: they depend on no measure and no engine."""

from __future__ import annotations

import itertools
import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covary.errors import ParameterError
from covary.searching.strategies import (
    Beam,
    Exhaustive,
    FourS,
    all_strategies,
    base,
    find_strategy,
)


def drive(strategy, n_columns, score, fixed=0):
    """Return every proposed candidate with its score, in the order of the proposals."""
    found = {}
    batches = strategy.batches(n_columns, fixed)
    stages = {}
    try:
        batch = next(batches)
        while True:
            sets = [tuple(columns) for columns in batch.sets.tolist()]
            assert len({len(columns) for columns in sets}) == 1
            assert all(columns == tuple(sorted(set(columns))) for columns in sets)
            assert not set(sets) & set(found), "proposed twice"
            stages.setdefault(batch.stage, [batch.total, 0])[1] += len(sets)
            found.update((columns, score(columns)) for columns in sets)
            batch = batches.send(np.array([found[columns] for columns in sets]))
    except StopIteration:
        pass
    assert all(total == done for total, done in stages.values())
    return found


def random_scores(seed, levels):
    """Return a function that scores a set at random; few levels give many equal scores."""

    def score(columns):
        rng = np.random.default_rng([seed, *columns])
        return float(rng.integers(0, levels)) / levels

    return score


@given(
    seed=st.integers(0, 10**6),
    n_columns=st.integers(2, 8),
    beam=st.integers(1, 12),
    max_size=st.integers(2, 6),
    parents=st.sampled_from(["all", "one", None]),
    levels=st.sampled_from([1, 3, 1000]),
    every=st.sampled_from([0, 10, 40]),
)
def test_beam_proposes_the_candidates_of_the_naive_search(
    seed, n_columns, beam, max_size, parents, levels, every
):
    score = random_scores(seed, levels)
    proposed = drive(Beam(max_size, beam, parents, every), n_columns, score)
    expected = naive.beam_search(
        range(n_columns), score, beam, max_size, parents != "one", every=every
    )
    assert proposed == expected


@given(
    seed=st.integers(0, 10**6),
    n_columns=st.integers(1, 6),
    beam=st.integers(1, 8),
    max_size=st.integers(2, 5),
    parents=st.sampled_from(["all", "one", None]),
    every=st.sampled_from([0, 8]),
)
def test_beam_with_a_fixed_column_starts_with_single_columns(
    seed, n_columns, beam, max_size, parents, every
):
    score = random_scores(seed, 5)
    proposed = drive(Beam(max_size, beam, parents, every), n_columns, score, fixed=1)
    # The fixed column has the largest number, so the order of the others stays the same.
    expected = naive.beam_search(
        range(n_columns),
        lambda columns: score(columns[:-1]),
        beam,
        max_size,
        parents == "all",
        fixed=(n_columns,),
        every=every,
    )
    assert proposed == {columns[:-1]: value for columns, value in expected.items()}


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("fixed", [0, 1])
def test_exhaustive_proposes_every_set_once(size, fixed):
    proposed = drive(Exhaustive(size), 6, lambda columns: 0.0, fixed)
    every = itertools.chain.from_iterable(
        itertools.combinations(range(6), k) for k in range(2 - fixed, size - fixed + 1)
    )
    assert list(proposed) == list(every)
    assert len(proposed) == Exhaustive(size).count(6, fixed)


def test_no_set_has_more_columns_than_the_table():
    assert max(map(len, drive(Exhaustive(9), 4, lambda columns: 0.0))) == 4
    assert max(map(len, drive(Beam(9), 4, lambda columns: 0.0))) == 4


@pytest.mark.parametrize("strategy", [Beam(3, beam=7), Exhaustive(3), FourS()])
def test_batch_size_does_not_change_the_candidates(strategy, monkeypatch):
    score = random_scores(1, 4)
    whole = drive(strategy, 9, score)
    monkeypatch.setattr(base, "BATCH_SIZE", 5)
    in_parts = drive(strategy, 9, score)
    assert list(in_parts.items()) == list(whole.items())


# ---------------------------------------------------------------- 4S


def pair_scores(edges):
    """Return a function that scores these pairs 0.9 and every other set 0."""
    edges = {tuple(sorted(edge)) for edge in edges}
    return lambda columns: 0.9 if columns in edges else 0.0


def test_4s_scores_the_cliques_of_the_strongest_pairs():
    triangle, square = (0, 3, 5), (1, 2, 6, 7)
    edges = [*itertools.combinations(triangle, 2), *itertools.combinations(square, 2), (4, 8)]
    proposed = drive(FourS(), 9, pair_scores(edges))
    assert [columns for columns in proposed if len(columns) > 2] == [triangle, square]
    assert sum(len(columns) == 2 for columns in proposed) == math.comb(9, 2)


@given(
    seed=st.integers(0, 10**6),
    edges=st.integers(1, 28),
    levels=st.sampled_from([2, 5, 1000]),
    max_size=st.sampled_from([None, 4, 5]),
)
def test_4s_proposes_the_cliques_and_their_unions(seed, edges, levels, max_size):
    score = random_scores(seed, levels)
    pairs = sorted(itertools.combinations(range(8), 2), key=lambda pair: (-score(pair), pair))
    graph = {pair for pair in pairs[:edges] if score(pair) > 0}
    cliques = naive.maximal_cliques(graph, 8)
    if max_size is not None and any(len(clique) > max_size for clique in cliques):
        return  # Large cliques are reduced to the strongest columns; another test checks that.
    unions = naive.merged_cliques(cliques, 8, max_size or 8)
    proposed = drive(FourS(max_size, edges), 8, score)
    assert {columns for columns in proposed if len(columns) > 2} == {*cliques, *unions}


def test_4s_joins_cliques_if_few_edges_are_missing():
    edges = set(itertools.combinations(range(8), 2)) - {(0, 1), (2, 3)}
    proposed = drive(FourS(edges=100), 60, pair_scores(edges))
    assert tuple(range(8)) in proposed


def test_4s_does_not_join_cliques_that_share_one_column():
    one, other = (0, 1, 2, 3, 4), (4, 5, 6, 7, 8)
    edges = [*itertools.combinations(one, 2), *itertools.combinations(other, 2)]
    larger = {c for c in drive(FourS(), 60, pair_scores(edges)) if len(c) > 2}
    assert larger == {one, other}


def test_4s_reduces_large_cliques_to_the_strongest_columns():
    weights = [0.9, 0.1, 0.8, 0.7, 0.2]
    proposed = drive(
        FourS(max_size=3, edges=10),
        5,
        lambda columns: min(weights[c] for c in columns) if len(columns) == 2 else 0.0,
    )
    assert [columns for columns in proposed if len(columns) > 2] == [(0, 2, 3)]


def test_4s_removes_edges_if_there_are_too_many_cliques(monkeypatch):
    from covary.searching.strategies import four_s

    monkeypatch.setattr(four_s, "MAX_CLIQUES", 3)
    # A complete graph without a perfect matching has 2^4 maximal cliques.
    edges = set(itertools.combinations(range(8), 2)) - {(0, 1), (2, 3), (4, 5), (6, 7)}
    proposed = drive(FourS(edges=100), 8, pair_scores(edges))
    strongest = sorted(edges)[: len(edges) // 4]
    cliques = naive.maximal_cliques(set(strongest), 8)
    assert {c for c in proposed if len(c) > 2} == {*cliques, *naive.merged_cliques(cliques, 8, 8)}


# ---------------------------------------------------------------- parameters


def test_strategies_are_found_by_name():
    assert {"4s", "beam", "exhaustive"} <= set(all_strategies())
    for name, entry in all_strategies().items():
        assert find_strategy(name) == entry.make()
        assert entry.summary
    assert find_strategy("beam", beam=7, max_size=None) == Beam(beam=7)
    assert find_strategy(Beam(beam=3), max_size=4) == Beam(max_size=4, beam=3)


def test_unknown_strategy_error_suggests_the_closest_name():
    with pytest.raises(ParameterError, match=r"no strategy 'bean'. Did you mean 'beam'\? The str"):
        find_strategy("bean")


def test_parameter_of_another_strategy_is_an_error():
    with pytest.raises(ParameterError, match="strategy 'exhaustive' has no parameter 'beam'"):
        find_strategy("exhaustive", beam=3)


@pytest.mark.parametrize(
    ("strategy", "parameters", "name"),
    [
        (Beam, {"max_size": 1}, "max_size"),
        (Beam, {"max_size": 2.5}, "max_size"),
        (Beam, {"beam": 0}, "beam"),
        (Beam, {"beam": True}, "beam"),
        (Beam, {"parents": "some"}, "parents"),
        (Exhaustive, {"max_size": "3"}, "max_size"),
        (FourS, {"max_size": 1}, "max_size"),
        (FourS, {"edges": 0}, "edges"),
    ],
)
def test_invalid_parameters_are_errors(strategy, parameters, name):
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        strategy(**parameters)


def test_the_old_module_name_is_deprecated():
    with pytest.warns(DeprecationWarning, match=r"use covary\.searching\.strategies"):
        from covary.strategies import Beam as DeprecatedBeam
    assert DeprecatedBeam is Beam


# ---------------------------------------------------------------- what a search can afford


def drive_within(strategy, n_columns, score, affordable, fixed=0):
    """Return the number of proposed sets by size, and all of them."""
    found = []
    strategy.run(
        n_columns,
        fixed,
        lambda batch: (
            found.extend(map(tuple, batch.sets.tolist()))
            or np.array([score(tuple(columns)) for columns in batch.sets.tolist()])
        ),
        affordable,
    )
    return found


@pytest.mark.parametrize("fixed", [0, 1])
def test_a_beam_search_scores_all_sets_of_three_that_it_can_afford(fixed):
    triples = math.comb(50, 3 - fixed)
    every = drive_within(Beam(3), 50, lambda columns: 0.0, triples, fixed)
    assert sum(len(columns) == 3 - fixed for columns in every) == triples
    explicit = drive_within(Beam(3, every=0, parents="all"), 50, lambda columns: 0.0, triples)
    assert sum(len(columns) == 3 for columns in explicit) < triples, "every wins"


def test_a_beam_search_adds_every_column_to_as_many_of_the_best_pairs_as_it_can_afford():
    """The best pairs share no column, so that no set of three has three of them."""

    def score(columns):
        return 1.0 - columns[0] / 100 if columns[1] == columns[0] + 1 else 0.0

    found = drive_within(Beam(3), 40, lambda c: score(c) if len(c) == 2 else 0.0, 200)
    triples = {columns for columns in found if len(columns) == 3}
    best = [(first, first + 1) for first in range(5)]  # 200 sets of three / 40 columns
    expected = {
        tuple(sorted((*pair, other))) for pair in best for other in range(40) if other not in pair
    }
    assert expected <= triples
    assert len(triples) <= 200 + math.comb(15, 3), "and sets of which all pairs are among the best"


def test_a_beam_search_of_unknown_cost_scores_at_most_ten_thousand_sets_of_a_size():
    assert sum(len(c) == 3 for c in drive_within(Beam(3), 39, lambda columns: 0.0, None)) == 9139
    found = drive_within(Beam(3), 41, lambda columns: 0.0, None)
    assert sum(len(c) == 3 for c in found) < math.comb(41, 3)
