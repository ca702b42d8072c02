"""The whole search: exact scores, complete candidates, ranking, results and errors."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from contextlib import contextmanager
from pathlib import Path

import naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from example_tables import tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import covary
from covary import SearchResult, Subspace
from covary.engines import Threads, find_engine
from covary.errors import ColumnError, EngineError, ParameterError
from covary.measures import find_measure
from covary.measures.shared.content_order import table_order_by_content
from covary.measures.uds import prefix_scorer
from covary.plots import figure_source
from covary.prepare import prepare
from covary.searching import run
from covary.searching.options import SearchOptions
from covary.searching.plan import plan_search
from covary.searching.run import Search
from covary.searching.strategies import Beam, base, exhaustive, find_strategy

DATA = Path(__file__).parent / "data"
MEASURES = ("uds", "uds-unregularized")


def positions(subspace):
    """Return the positions of the columns of a set; names are x0, x1, ..."""
    return tuple(int(name[1:]) for name in subspace.columns)


def varying(table):
    """Return the columns with two different values, or one value and missing cells."""
    values = [set(column[~np.isnan(column)].tolist()) for column in table.T]
    missing = np.isnan(table).any(axis=0)
    return [at for at, each in enumerate(values) if len(each) > 1 or (each and missing[at])]


def content_places(table):
    """Return a function that gives the place of a column in the order by content."""
    order = table_order_by_content(prepare(table)).tolist()
    return order.index


def as_dict(found):
    """Return the scores of a result by the positions of the columns."""
    return {positions(subspace): subspace.score for subspace in found}


@pytest.fixture(scope="module")
def table():
    """Return twelve columns: four that depend on each other, a pair, and noise.

    Two columns have missing cells.
    """
    rng = np.random.default_rng(5)
    cells = rng.normal(size=(600, 12))
    base = rng.random(600)
    for at, column in enumerate((1, 4, 7, 9)):
        cells[:, column] = base ** (at + 1) + 0.03 * rng.normal(size=600)
    cells[:, 10] = np.abs(cells[:, 2]) + 0.1 * rng.normal(size=600)
    cells[rng.random(600) < 0.1, 4] = np.nan
    cells[rng.random(600) < 0.1, 0] = np.nan
    return cells


def planned(data, measure, strategy, **options):
    """Return the plan of a search of all columns."""
    return plan_search(data, None, measure, strategy, SearchOptions(**options))


# ---------------------------------------------------------------- the search of the paper


def test_search_finds_the_sets_that_the_authors_code_finds():
    reference = json.loads((DATA / "authors_scores.json").read_text())["beam_search"]
    cells = np.loadtxt(DATA / reference["file"], delimiter=",")
    found = covary.search(cells, beam=100, top=100, measure="uds", scale=None)
    assert {positions(each) for each in found} == {tuple(c) for c, _ in reference["result"]}
    alone = {
        columns: covary.score(cells, columns, measure="uds", scale=None)
        for columns in as_dict(found)
    }
    assert [positions(each) for each in found] == [
        c for c, _ in naive.ranked(alone, content_places(cells))
    ]
    assert all(abs(each.score - alone[positions(each)]) <= 1e-12 for each in found)


def test_scores_of_the_authors_code_differ_only_in_the_denominator():
    """Their code divides by the entropies of all columns except the first of the *input*."""
    reference = json.loads((DATA / "authors_scores.json").read_text())["beam_search"]
    cells = np.loadtxt(DATA / reference["file"], delimiter=",")
    measure = covary.UDS(scale=None)
    prepared = prepare(cells)
    weights = measure.weights(prepared)
    for columns, theirs in reference["result"]:
        explanation = measure.explain_set(prepared, columns)
        entropies = [weights[int(name[1:])] for name in explanation.order[1:]]
        gained = explanation.score * sum(entropies)
        assert gained / sum(weights[c] for c in columns[1:]) == pytest.approx(theirs, abs=1e-9)


# ---------------------------------------------------------------- shared prefixes


@settings(max_examples=40)
@given(
    table=tables(rows=(5, 120), columns=(3, 6)),
    beam=st.integers(1, 20),
    parents=st.sampled_from(["all", "one"]),
    measure=st.sampled_from(MEASURES),
)
def test_shared_prefixes_change_neither_scores_nor_sets(table, beam, parents, measure):
    options = {"beam": beam, "parents": parents, "every": 5, "top": 10**6, "measure": measure}
    found = covary.search(table, **options)
    expected = naive.beam_search(
        varying(table),
        lambda columns: covary.score(table, columns, measure=measure),
        beam,
        max_size=5,
        all_parents=parents == "all",
        every=5,
        place=content_places(table),
    )
    ranked = naive.ranked(expected, content_places(table))
    assert [(positions(each), each.score) for each in found] == ranked
    assert found.scored == len(expected)


@settings(max_examples=25)
@given(table=tables(rows=(5, 80), columns=(2, 5)), measure=st.sampled_from(MEASURES))
def test_exhaustive_search_gives_every_set_the_score_that_it_has_alone(table, measure):
    found = covary.search(table, strategy="exhaustive", top=10**6, measure=measure)
    every = [c for k in range(2, 6) for c in itertools.combinations(varying(table), k)]
    scores = {columns: covary.score(table, columns, measure=measure) for columns in every}
    ranked = naive.ranked(scores, content_places(table))
    assert [(positions(each), each.score) for each in found] == ranked


@settings(max_examples=40)
@given(
    table=tables(rows=(5, 60), columns=(3, 7)),
    beam=st.integers(1, 20),
    measure=st.sampled_from(MEASURES),
    strategy=st.sampled_from(["beam", "exhaustive"]),
    target=st.booleans(),
)
def test_sizes_of_batches_and_tasks_do_not_change_the_result(
    table, beam, measure, strategy, target
):
    options = {"measure": measure, "strategy": strategy, "top": 10**6}
    options |= {"beam": beam} if strategy == "beam" else {}
    if target:
        assume(len(set(table[~np.isnan(table[:, 0]), 0].tolist())) > 1)
        options["target"] = 0
    whole = covary.search(table, n_jobs=1, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "BATCH_SIZE", 5)
        patch.setattr(prefix_scorer, "ROWS_PER_ITEM", 3 * len(table))
        patch.setattr(prefix_scorer, "ORDER_BLOCK", 2)
        patch.setattr(exhaustive, "REMEMBER", 3)
        assert covary.search(table, n_jobs=3, **options) == whole


@pytest.mark.parametrize("strategy", ["beam", "exhaustive"])
def test_of_equal_scores_the_states_that_are_needed_later_are_kept(monkeypatch, strategy):
    monkeypatch.setattr(base, "BATCH_SIZE", 5)
    kept = []
    original = prefix_scorer.extend_prefixes

    def watched(shared, items):
        kept.extend(item.state is not None for item in items if len(item.columns) > 1)
        return original(shared, items)

    monkeypatch.setattr(prefix_scorer, "extend_prefixes", watched)
    noise = np.random.default_rng(0).normal(size=(2000, 9))
    options = {"beam": 12} if strategy == "beam" else {}
    found = covary.search(noise, strategy=strategy, max_size=4, measure="uds", **options)
    assert {each.score for each in found} == {0.0}
    assert kept
    assert all(kept)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n_columns=st.integers(3, 6), target=st.booleans())
def test_the_order_of_similar_columns_changes_no_score(seed, n_columns, target):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.random(40).round(rng.integers(1, 4)))
    cells = np.column_stack([rng.permutation(values) for _ in range(n_columns)])
    cells[:, 1] = cells[::-1, 0]
    cells[rng.random(cells.shape) < rng.choice([0.0, 0.1])] = np.nan
    cells = np.column_stack([cells, (cells[:, 0] > values[20]) + 0.3 * rng.random(40)])
    order = rng.permutation(n_columns + 1)
    options = {"strategy": "exhaustive", "measure": "uds", "beta": 5, "top": 10**6, "max_size": 4}
    names = [{"target": n_columns}, {"target": int(np.argsort(order)[n_columns])}]
    one = covary.search(cells, **options, **(names[0] if target else {}))
    other = covary.search(cells[:, order], **options, **(names[1] if target else {}))
    back = {
        tuple(sorted(order[list(columns)].tolist())): score
        for columns, score in as_dict(other).items()
    }
    assert back == as_dict(one)


def test_the_order_of_columns_with_rescaled_copies_changes_no_score():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one = (rng.permutation(25) < 22).astype(float)
        other = (rng.permutation(25) < 22).astype(float)
        cells = np.column_stack([one, other, 3 * one + 7, 3 * rng.permutation(one) + 7])
        scores = {
            covary.score(cells[:, list(order)]) for order in itertools.permutations(range(4))
        }
        assert len(scores) == 1


def test_columns_of_equal_entropy_come_after_a_column_of_higher_entropy():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        low = rng.random(300) ** 6
        cells = np.column_stack([low, rng.random(300), rng.permutation(low)])
        assert covary.explain(cells, measure="uds").order[0] == "x1"


def test_search_of_columns_of_equal_entropy_gives_the_same_scores():
    rng = np.random.default_rng(3)
    ranks = np.column_stack([rng.permutation(np.arange(200.0)) for _ in range(7)])
    ranks[:, 3] = ranks[::-1, 0]
    found = covary.search(ranks, measure="uds-unregularized", max_size=4, top=10**6, beam=10)
    for columns, score in as_dict(found).items():
        assert score == covary.score(ranks, columns, measure="uds-unregularized")


def test_only_the_states_of_the_beam_are_kept(table, monkeypatch):
    measure = find_measure("uds")
    search = Search(planned(table, measure, Beam(max_size=3, beam=5, every=0), top=3))
    scorer = measure.scorer(search.plan.prepared)
    monkeypatch.setattr(type(measure), "scorer", lambda *_: scorer)
    n_kept = []
    search.run(Threads(1), on_progress=lambda *_: n_kept.append(len(scorer.states)))
    assert max(n_kept) == 5
    assert scorer.best == [], "no state of the largest size is kept"


@pytest.mark.parametrize("strategy", ["beam", "exhaustive"])
def test_a_set_whose_prefix_was_kept_needs_one_step(table, monkeypatch, strategy):
    steps = []
    kept = []
    original = prefix_scorer.extend_prefixes

    def counted(shared, items):
        kept.extend(item.state is not None for item in items if len(item.columns) > 1)
        steps.extend(len(item.last) for item in items)
        return original(shared, items)

    monkeypatch.setattr(prefix_scorer, "extend_prefixes", counted)
    found = covary.search(table, strategy=strategy, max_size=4, top=5, measure="uds")
    assert sum(steps) == found.scored
    assert kept
    assert all(kept)


# ---------------------------------------------------------------- a target


@settings(max_examples=25)
@given(
    table=tables(rows=(5, 50), columns=(3, 4)),
    beta=st.integers(2, 6),
    regularize=st.booleans(),
    target=st.integers(0, 2),
)
def test_explained_fraction_of_a_target_is_the_naive_one(table, beta, regularize, target):
    assume(len(set(table[~np.isnan(table[:, target]), target].tolist())) > 1)
    found = covary.search(
        table,
        target=target,
        measure="uds",
        beta=beta,
        regularize=regularize,
        parents="one",
        top=10**6,
    )
    columns = [table[:, at].tolist() for at in range(table.shape[1])]
    for each in found:
        others = [columns[at] for at in positions(each) if at != target]
        weights = [naive.entropy_weight(column, "range") for column in others]
        if len({round(weight, 9) for weight in weights}) < len(weights):
            continue  # The paper does not define the order of columns with equal entropies.
        expected = naive.explained(columns[target], others, beta, regularize)
        assert each.score == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(table=tables(rows=(10, 60), columns=(4, 4)), regularize=st.booleans())
def test_every_score_of_a_target_scorer_is_the_naive_one(table, regularize):
    assume(len(set(table[~np.isnan(table[:, 0]), 0].tolist())) > 1)
    columns = [table[:, at].tolist() for at in range(4)]
    weights = [naive.entropy_weight(column, "range") for column in columns[1:]]
    assume(len({round(weight, 9) for weight in weights}) == 3)
    scorer = covary.UDS(beta=5, regularize=regularize).scorer(prepare(table), 0)
    with Threads(1).session(scorer.shared) as session:
        for size in (1, 2, 3):
            sets = np.array(list(itertools.combinations((1, 2, 3), size)), np.int32)
            for which, scores in scorer.score(sets, session.run, remember=2):
                for others, score in zip(sets[which].tolist(), scores, strict=True):
                    chosen = [columns[at] for at in others]
                    expected = naive.explained(columns[0], chosen, 5, regularize)
                    assert score == pytest.approx(expected, abs=1e-9)


def test_a_small_pool_of_sets_gives_the_same_best_sets(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.random((300, 30))
    cells[:, 0] = np.argsort(np.argsort(cells[:, 1])) >= 240
    cells[:, 2] = cells[:, 0] + 0.5 * rng.random(300)
    noise = rng.normal(size=(1000, 7))
    options = {"strategy": "exhaustive", "max_size": 4, "top": 40}
    whole = covary.search(cells, target=0, **options)
    pruned = covary.search(noise, prune=True, **options)
    monkeypatch.setattr(run, "POOL", 40)
    assert covary.search(cells, target=0, **options) == whole
    assert set(covary.search(noise, prune=True, **options)) <= set(pruned)


def test_every_set_contains_the_target_and_explains_more_than_its_subsets(table):
    found = covary.search(table, target=7, top=1000, measure="uds-unregularized", max_size=4)
    scores = as_dict(found)
    assert all(7 in columns for columns in scores)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert naive.without_supersets(scores) == scores
    assert found.target == "x7"


def test_search_finds_the_columns_that_a_target_was_made_of(table):
    assert set(covary.search(table, target=9, top=3)[0].columns) & {"x1", "x4", "x7"}
    assert covary.search(table, target="x10", max_size=2, top=1)[0].columns == ("x2", "x10")


def test_search_and_target_give_the_same_pairs(table):
    weights = find_measure("uds").weights(prepare(table))
    target = int(np.argmin(weights))  # It comes last in every order.
    pairs = as_dict(covary.search(table, max_size=2, top=1000, measure="uds"))
    explained = as_dict(covary.search(table, target=target, max_size=2, top=1000, measure="uds"))
    assert explained == {columns: score for columns, score in pairs.items() if target in columns}


def test_the_target_need_not_be_among_the_columns(table):
    for columns, target in ((["x1", "x3"], "x4"), ([1, 3, 4], "x4"), (["x4", "x1", "x3"], 4)):
        found = covary.search(table, columns, target=target, max_size=2)
        assert {frozenset(each.columns) for each in found} == {
            frozenset({"x1", "x4"}),
            frozenset({"x3", "x4"}),
        }


# ---------------------------------------------------------------- which sets are returned


@settings(max_examples=40)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75]), min_size=11, max_size=11),
    top=st.integers(1, 11),
)
def test_pruning_drops_sets_with_a_superset_that_scores_as_high(scores, top):
    sets = [c for k in (2, 3, 4) for c in itertools.combinations(range(4), k)]
    scores_by_set = dict(zip(sets, scores, strict=True))
    search = search_with_scores(scores_by_set, top=top, prune=True)
    place = content_places(np.random.default_rng(0).random((100, 4)))
    kept = naive.without_subsets(scores_by_set)
    assert search.found() == naive.ranked(kept, place)[:top]
    every = search_with_scores(scores_by_set, top=top)
    assert every.found() == naive.ranked(scores_by_set, place)[:top]


def search_with_scores(scores, **options):
    """Return a search whose ranking contains these sets with these scores."""
    noise = np.random.default_rng(0).random((100, 4))
    search = Search(planned(noise, find_measure("uds"), Beam(), **options))
    for size in (2, 3, 4):
        sets = [columns for columns in scores if len(columns) == size]
        search.scores.ranking.add(np.array(sets, np.int32), np.array([scores[c] for c in sets]))
    return search


def test_five_planted_sets_are_found_among_a_hundred_columns():
    rng = np.random.default_rng(11)
    cells = rng.normal(size=(4000, 100))
    places = rng.permutation(100).tolist()
    planted = []
    for size in (2, 3, 4, 5, 3):
        columns = sorted(places.pop() for _ in range(size))
        base = rng.random(4000)
        for at, column in enumerate(columns):
            cells[:, column] = base ** (1 + at / 2) + 0.02 * rng.normal(size=4000)
        planted.append(tuple(columns))
    found = covary.search(cells, top=10, prune=True, measure="uds")
    assert set(planted) <= set(as_dict(found))


def test_progress_of_every_stage_goes_from_0_to_its_total(table):
    events_by_stage = {}
    found = covary.search(
        table,
        max_size=4,
        on_progress=lambda stage, *event: events_by_stage.setdefault(stage, []).append(event),
    )
    assert list(events_by_stage) == ["pairs", "sets of 3", "sets of 4"]
    for events in events_by_stage.values():
        done = [event[0] for event in events]
        assert done == sorted(done)
        assert done[0] == 0
        assert events[-1][0] == events[-1][1]
    assert sum(events[-1][1] for events in events_by_stage.values()) == found.scored


def test_progress_of_an_exhaustive_search_counts_all_sizes(table):
    events = []
    covary.search(
        table, strategy="exhaustive", max_size=3, on_progress=lambda *event: events.append(event)
    )
    assert {total for _, _, total in events} == {66 + 220}
    done = [done for _, done, _ in events]
    assert done == sorted(done)
    assert done[-1] == 286


def test_an_exhaustive_search_knows_the_number_of_sets_in_advance(table):
    measure, exhaustive_search = find_measure("uds"), find_strategy("exhaustive", max_size=3)
    assert planned(table, measure, exhaustive_search).candidates.number == 66 + 220
    with_target = planned(table, measure, exhaustive_search, target=0)
    assert with_target.candidates.number == 11 + 55
    assert planned(table, measure, Beam()).candidates.number is None


@pytest.mark.parametrize("target", [3, np.int64(3), "x3"])
def test_a_target_is_given_by_position_or_name(table, target):
    assert planned(table, find_measure("uds"), Beam(), target=target).target == 3


# ---------------------------------------------------------------- results


@pytest.fixture(scope="module")
def found(table):
    return covary.search(table, top=4)


def test_a_result_is_a_sequence(found):
    assert isinstance(found, SearchResult)
    assert len(found) == len(found.subspaces) == 4
    assert found[0] == next(iter(found)) == found.subspaces[0]
    assert found[1:3] == found.subspaces[1:3]
    assert isinstance(found[0], Subspace)
    assert found[0].pvalue is found[0].qvalue is found[0].family_pvalue is None


def test_a_result_as_text(found):
    lines = str(found).splitlines()
    assert lines[0] == f"the best 4 of {found.scored:,} scored sets (uds-chance, beam, 600 rows)"
    assert lines[1] == f"{found[0].score:.4f}  {', '.join(found[0].columns)}"
    assert repr(found) == f"<SearchResult: {lines[0]}>"


def test_a_result_as_json(found):
    document = json.loads(found.to_json())
    assert document["scored"] == found.scored
    assert document["complete"] is True
    assert document["subspaces"][0] == {
        "columns": list(found[0].columns),
        "score": found[0].score,
        "pvalue": None,
        "qvalue": None,
        "family_pvalue": None,
        "increment_pvalue": None,
        "adds_nothing": None,
        "variant_of": None,
        "variants": found[0].variants,
        "variant_columns": list(found[0].variant_columns),
    }
    assert document["relations"] == [relation.to_dict() for relation in found.relations]
    assert document["tests"] is None
    assert document["parameters"]["strategy_parameters"]["beam"] == 100


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda cells: pd.DataFrame(cells, columns=list("abcdefghijkl")), pd.DataFrame),
        (lambda cells: pl.DataFrame(cells, schema=list("abcdefghijkl")), pl.DataFrame),
        (lambda cells: pl.LazyFrame(cells, schema=list("abcdefghijkl")), pl.DataFrame),
        (lambda cells: pa.table(list(cells.T), names=list("abcdefghijkl")), pa.Table),
        (lambda cells: cells, pa.Table),
    ],
    ids=["pandas", "polars", "lazy", "pyarrow", "array"],
)
def test_to_frame_returns_the_same_kind_of_frame_as_the_input(table, make, kind):
    found = covary.search(make(table), top=3)
    frame = found.to_frame()
    assert isinstance(frame, kind)
    columns = frame["columns"].to_pylist() if kind is pa.Table else list(frame["columns"])
    assert [tuple(names) for names in columns] == [each.columns for each in found]
    scores = frame["score"].to_pylist() if kind is pa.Table else list(frame["score"])
    assert scores == [each.score for each in found]


def test_a_pickled_result_is_equal(table):
    found = covary.search(pd.DataFrame(table), top=3)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert isinstance(again.to_frame(), pd.DataFrame)


@pytest.mark.parametrize(
    "labels",
    [
        list("abcdefghijkl"),
        list(range(12)),
        list(pd.date_range("2026-01-01", periods=12)),
        pd.MultiIndex.from_product([["left", "right"], range(6)]),
    ],
    ids=["text", "numbers", "dates", "levels"],
)
def test_columns_of_a_set_are_labels_of_the_input_frame(table, labels):
    frame = pd.DataFrame(table, columns=labels)
    best = covary.search(frame, top=1)[0]
    part = frame[list(best.columns)]
    assert covary.score(frame, best.columns) == covary.score(part) == best.score
    explanation = covary.explain(frame, best.columns)
    assert set(explanation.order) == set(best.columns)
    assert all(step.target in frame.columns for step in explanation.steps)
    assert json.loads(covary.search(frame, top=1).to_json())


def test_column_names_cannot_send_control_codes_to_the_terminal(table):
    frame = pd.DataFrame(table[:, [1, 7]], columns=["\x1b[31mred", "two\nlines"])
    for text in (str(covary.search(frame)), str(covary.explain(frame))):
        assert "\x1b" not in text
        assert "\\x1b[31mred" in text
        assert "two\\nlines" in text


# ---------------------------------------------------------------- engine of figures


class RecordingEngine(Threads):
    """Threads that record the items of all tasks, until they are closed."""

    def __init__(self):
        super().__init__(1)
        self.items = []
        self.closed = False

    @contextmanager
    def session(self, shared):
        if self.closed:
            raise EngineError("the cluster is closed")
        with super().session(shared) as session:
            submit = session.submit

            def recorded(task, items):
                self.items.extend(items)
                return submit(task, items)

            session.submit = recorded
            yield session


def scored_pairs(items):
    """Return the pairs that the items of tasks of `uds` score, in any order."""
    return sorted(
        tuple(sorted((*item.columns, last))) for item in items for last in item.last.tolist()
    )


def test_figures_compute_missing_pairs_on_the_engine_of_the_search(table, monkeypatch):
    pytest.importorskip("altair")
    monkeypatch.setattr(figure_source, "find_engine", lambda *_: pytest.fail("another engine"))
    engine = RecordingEngine()
    found = covary.search(table[:, :5], target=1, measure="uds", engine=engine)
    engine.items.clear()
    drawn = found.plot.heatmap().to_dict()
    assert scored_pairs(engine.items) == list(itertools.combinations(range(5), 2))
    without_target = covary.search(table[:, :5], measure="uds", engine=engine)
    engine.items.clear()
    assert without_target.plot.heatmap().to_dict() == drawn
    assert engine.items == [], "the search has computed all pairs"


def test_figures_use_threads_if_the_engine_of_the_search_fails(table, monkeypatch):
    pytest.importorskip("altair")
    engine = RecordingEngine()
    found = covary.search(table[:, :5], target=1, measure="uds", engine=engine)
    expected = found.plot.heatmap().to_dict()
    fallbacks = []

    def watched(*arguments):
        fallbacks.append(find_engine(*arguments))
        return fallbacks[-1]

    monkeypatch.setattr(figure_source, "find_engine", watched)
    engine.closed = True
    engine.items.clear()
    assert found.plot.heatmap().to_dict() == expected
    assert [type(each) for each in fallbacks] == [Threads]
    assert engine.items == []


# ---------------------------------------------------------------- errors and special cases


def test_search_of_two_columns_scores_one_pair():
    x = np.random.default_rng(0).random(200)
    found = covary.search(np.column_stack([x, x]))
    assert [positions(each) for each in found] == [(0, 1)]
    assert found.scored == 1


def test_constant_columns_are_not_searched():
    x = np.random.default_rng(0).random(200)
    cells = np.column_stack([np.ones(200), x, np.full(200, np.nan), x**2])
    with pytest.warns(covary.CovaryWarning, match="constant columns .*: 'x0', 'x2'"):
        found = covary.search(cells)
    assert [positions(each) for each in found] == [(1, 3)]
    with pytest.warns(covary.CovaryWarning, match="constant columns"):
        nothing = covary.search(cells[:, :3])
    assert (len(nothing), nothing.scored) == (0, 0)
    with pytest.raises(ColumnError, match="'x0' is constant: there is nothing to explain"):
        covary.search(cells, target="x0")


def test_no_set_explains_a_target_as_well_as_its_subset():
    rng = np.random.default_rng(8)
    for _ in range(20):
        x = rng.gamma(2.0, size=500)
        cells = np.column_stack([x, rng.normal(size=(500, 4)), x**2 + rng.random(500)])
        found = as_dict(covary.search(cells, target=5, parents="one", top=10**6))
        near = [
            (small, large)
            for small, large in itertools.permutations(found, 2)
            if set(small) < set(large) and abs(found[small] - found[large]) < 1e-9
        ]
        assert near == []


def test_a_target_that_is_left_out_is_an_error(table):
    frame = pd.DataFrame(table[:, :3], columns=["a", "b", "c"]).assign(label="yes")
    frame["id"] = range(len(frame))
    with pytest.raises(ColumnError, match="column 'label' cannot be used: it is a single level"):
        covary.search(frame, target="label")
    with pytest.raises(ColumnError, match="column 'id' cannot be used: it is an identifier"):
        covary.search(frame, target="id")
    with pytest.raises(ColumnError, match=r"column 'id' cannot be used: .*; name it in col"):
        covary.search(frame, target="a", given=["id"])
    assert covary.search(frame, ["a", "b"], target="id").parameters["target"] == "id"


def test_a_text_target(table):
    labels = np.array(["low", "middle", "high"])
    frame = pd.DataFrame(table[:, :3], columns=["a", "b", "c"])
    frame["label"] = labels[np.digitize(frame["b"], frame["b"].quantile([0.3, 0.6]))]
    assert covary.search(frame, target="label", max_size=2)[0].columns == ("b", "label")
    (alone,) = covary.search(frame, ["b"], target="label")
    assert alone.score == covary.score(frame, ["b"], target="label") > 0.9


def test_too_many_sets_are_an_error():
    noise = np.random.default_rng(0).random((100, 300))
    n_sets = sum(math.comb(300, size) for size in range(2, 8))
    with pytest.raises(ParameterError, match=f"would score {n_sets:.1e} sets".replace("+", ".")):
        covary.search(noise, strategy="exhaustive", max_size=7)
    with pytest.raises(ParameterError, match="lower max_size, name fewer columns"):
        covary.search(noise, strategy="exhaustive", max_size=8, target=0)


def test_one_column_is_an_error():
    with pytest.raises(ColumnError, match="at least two columns: there is only 'x0'"):
        covary.search(np.random.default_rng(0).random((200, 1)))


def test_unknown_target_error_suggests_the_closest_name(table):
    frame = pd.DataFrame(table[:, :3], columns=["height", "weight", "age"])
    with pytest.raises(ColumnError, match=r"no column 'wieght'. Did you mean 'weight'\?"):
        covary.search(frame, target="wieght")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"top": 0}, "top must be a whole number of at least 1, not 0"),
        ({"strategy": "4s", "target": 0}, "strategy '4s' does not support a target"),
        (
            {"target": 0, "measure": "uds", "order": "exact"},
            "order must be 'entropy' if there is a target",
        ),
        ({"strategy": "exhaustive", "beam": 5}, "'exhaustive' has no parameter 'beam'"),
        ({"resume": True}, "run must be the file to resume"),
        ({"gamma": 1}, "measure 'uds-chance' has no parameter 'gamma'"),
        ({"maxsize": 3}, "search has no parameter 'maxsize'. Did you mean 'max_size'"),
        ({"jobs": 3}, "search has no parameter 'jobs'. Did you mean 'n_jobs'"),
        ({"measure": "uds", "bta": 3}, "'uds' has no parameter 'bta'.* Did you mean 'beta'"),
        ({"beta": 3}, "'uds-chance' has no parameter 'beta'.* Measures 'mac'.*'uds'.* have it"),
        ({"max_size": 1}, "max_size must be a whole number of at least 2"),
    ],
)
def test_invalid_parameters_are_errors(table, parameters, message):
    with pytest.raises(ParameterError, match=message):
        covary.search(table, **parameters)


def test_search_with_exact_orders_gives_the_same_scores(table):
    found = covary.search(table[:, :5], measure="uds", order="exact", max_size=3, top=100)
    for columns, score in as_dict(found).items():
        assert score == covary.score(table, columns, measure="uds", order="exact")
