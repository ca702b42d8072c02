"""Figures of a whole search as Vega-Lite data: heat map, graph and delays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from covary.array_types import Floats, OnProgress
from covary.plots.clustered_order import clustered_order
from covary.plots.figure_source import FigureSource
from covary.plots.figures.delays import delays
from covary.plots.figures.graph import Relation, graph
from covary.plots.figures.heatmap import heatmap
from covary.plots.figures.style import Spec

# The graph omits pairs below this fraction of the highest pair score.
MIN_RELATIVE_SCORE = 0.1
# Several columns are shown together if they explain this much more than the best one alone.
MIN_JOINT_GAIN = 0.1
MAX_JOINT_RELATIONS = 6
SETS_EXPLAINED = 20
MAX_DELAYED_COLUMNS = 6


class SearchFigures:
    """Figures of a whole search as Vega-Lite data.

    Parameters
    ----------
    source : the data of the figures
    on_progress : is called with the numbers of pairs done and in total, if pairs are computed
    """

    def __init__(self, source: FigureSource, on_progress: OnProgress | None = None) -> None:
        self.source = source
        self.record = source.record
        self.names = [self.record.labels[column] for column in source.shown_columns]
        self.on_progress = on_progress

    @cached_property
    def scores(self) -> Floats:
        """The scores of all pairs of the shown columns."""
        return self.source.pair_scores(self.on_progress)

    def heatmap(self) -> Spec:
        """Return a heat map of the scores of all pairs."""
        order = clustered_order(self.scores)
        names = [self.names[at] for at in order]
        n_columns = len(self.record.labels)
        scores = self.scores[np.ix_(order, order)]
        return heatmap(names, scores, self.record.measure.name, n_columns)

    def graph(self) -> Spec | None:
        """Return the graph of the strongest relations; None if there are none."""
        relations = [*self._pair_relations(), *self._joint_relations()]
        if not relations:
            return None
        measure = self.record.measure
        return graph(self.names, relations, "" if measure.explains else measure.name)

    def delays(self) -> Spec | None:
        """Return what the columns of the best sets explain of the target at each delay.

        None if there are no delays, no target, or the search was interrupted.
        """
        record, target = self.record, self.record.target
        prepared, measure = record.prepared, record.measure.plain()
        if prepared.table.options.lags == 0 or target is None or not record.complete:
            return None
        columns = prepared.table.columns
        ranked = [at for each in record.sets for at in each if at != target]
        best = dict.fromkeys(columns[at].undelayed for at in ranked)
        shown = list(best)[:MAX_DELAYED_COLUMNS]
        scores = []
        for name in shown:
            own = [at for at, each in enumerate(columns) if each.undelayed == name]
            pairs = [tuple(sorted((at, target))) for at in own if at != target]
            found = measure.score_sets(prepared, pairs, target)
            lags = [columns[at].lag for at in own if at != target]
            scores.append(dict(zip(lags, found.tolist(), strict=True)))
        if not shown:
            return None
        names = dict(zip(prepared.names, record.labels, strict=True))
        meaning = "explained" if measure.explains else measure.name
        labels = [names.get(name, name) for name in shown]
        return delays(record.labels[target], labels, scores, meaning)

    def _pair_relations(self) -> list[Relation]:
        """Return the maximum spanning forest of the pairs, by score.

        All pairs would hide the structure of a group of columns that depend on each other.
        """
        import networkx as nx

        scores = np.nan_to_num(self.scores)
        threshold = scores.max(initial=0.0) * MIN_RELATIVE_SCORE
        ones, others = np.nonzero(np.triu(scores > threshold))
        network = nx.Graph()
        for one, other in zip(ones.tolist(), others.tolist(), strict=True):
            network.add_edge(one, other, weight=float(scores[one, other]))
        forest = nx.maximum_spanning_edges(network)
        return [self._directed(one, other, edge["weight"]) for one, other, edge in forest]

    def _directed(self, one: int, other: int, score: float) -> Relation:
        """Return the relation of a pair, from the explaining to the explained column."""
        pair = [self.source.shown_columns[one], self.source.shown_columns[other]]
        order = self.record.measure.order_set(self.record.prepared, pair)
        if order == pair[::-1]:
            one, other = other, one
        return Relation((one,), other, score, directed=bool(order))

    def _joint_relations(self) -> list[Relation]:
        """Return relations with several columns that explain much more than each one alone."""
        shown_at = {column: at for at, column in enumerate(self.source.shown_columns)}
        position = {name: at for at, name in enumerate(self.record.prepared.names)}
        relations: list[Relation] = []
        for columns in self.record.sets[:SETS_EXPLAINED]:
            explanation = self.source.explanation(columns)
            for step in explanation.steps if explanation else ():
                members = [position[name] for name in (*step.by, step.target)]
                gain = step.explained - max(step.alone, default=step.explained)
                if gain < MIN_JOINT_GAIN or not all(column in shown_at for column in members):
                    continue
                *by, target = (shown_at[column] for column in members)
                relations.append(Relation(tuple(by), target, step.explained))
        relations.sort(key=lambda relation: -relation.explained)
        return _distinct(relations)[:MAX_JOINT_RELATIONS]


def _distinct(relations: Sequence[Relation]) -> list[Relation]:
    """Return only the first relation for each target, and for each set of columns."""
    kept: list[Relation] = []
    for relation in relations:
        columns = {relation.target, *relation.by}
        if not any(r.target == relation.target or {r.target, *r.by} == columns for r in kept):
            kept.append(relation)
    return kept
