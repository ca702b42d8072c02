"""Overviews of small tables with links that are given, not computed."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pandas as pd

from covary.engines import find_engine
from covary.measures import find_measure
from covary.prepare import prepare
from covary.report.presenter import OverviewPresenter
from covary.results import Group, Link, MissingTogether, Overview
from covary.results.link import COPY, FUNCTION, GO_TOGETHER, IDENTITY
from covary.results.overview import named_after
from covary.searching.record import SearchRecord


def overview_of(columns, links, rows=0, **more):
    """An overview without a table: groups are connected columns."""
    network = nx.Graph()
    for link in links:
        network.add_edges_from((column, link.target) for column in link.by)
    groups = []
    for members in nx.connected_components(network):
        own = tuple(link for link in links if link.target in members)
        inside = tuple(column for column in columns if column in members)
        groups.append(Group(named_after(inside, own), inside, own))
    linked = {column for group in groups for column in group.columns}
    return Overview(
        groups=tuple(groups),
        alone=tuple(column for column in columns if column not in linked),
        score=0.25,
        order=tuple(columns),
        columns=tuple(columns),
        rows=rows,
        **more,
    )


def with_table(overview, frame):
    """The same overview with its table, so that it can be drawn."""
    prepared = prepare(frame)
    labels = tuple(frame.columns)
    position = {name: at for at, name in enumerate(labels)}
    sets = tuple(tuple(sorted(position[c] for c in link.columns)) for link in overview.links)
    record = SearchRecord(
        prepared, find_measure("uds-chance"), find_engine(n_jobs=1), labels, sets=sets
    )
    return dataclasses.replace(overview, _presenter=OverviewPresenter(record, overview))


def example_frame(n_rows=120):
    """Columns of all kinds: numbers, names, missing cells."""
    rng = np.random.default_rng(0)
    size, age, noise, other = rng.normal(size=(4, n_rows))
    frame = pd.DataFrame(
        {
            "size": size,
            "weight": size + noise / 3,
            "price": size * age + other / 9,
            "age": age,
            "price_eur": (size * age + other / 9) * 0.9,
            "kind": np.where(size > 0.3, "large", "small"),
            "tax": 0.19 * size + age,
            "left": other,
            "right": np.where(noise > 0.5, np.nan, other + noise / 2),
            "free": rng.normal(size=n_rows),
        }
    )
    frame.loc[:9, ["free", "left"]] = np.nan
    return frame


EXAMPLE_LINKS = (
    Link("price", ("size", "age"), 0.82, (0.05, 0.04), (0.8, 0.79), qvalue=0.0004, pvalue=0.0001),
    Link("weight", ("size",), 0.61, (0.61,), (0.61,), qvalue=0.0004, family_pvalue=0.002),
    Link("kind", ("size",), 1.0, (1.0,), (1.0,), FUNCTION, "one level for each interval"),
    Link("price_eur", ("price",), 1.0, (1.0,), (1.0,), COPY),
    Link("tax", ("size", "age"), 1.0, (), (), IDENTITY, "0.19 size + age"),
    Link("right", ("left",), 0.44, (0.44,), (0.44,), GO_TOGETHER, qvalue=0.02, missing=0.03),
)


def example_overview(n_rows=120):
    """An overview with links of all kinds."""
    frame = example_frame(n_rows)
    overview = overview_of(
        tuple(frame.columns),
        EXAMPLE_LINKS,
        n_rows,
        missing_together=(MissingTogether(("free", "left"), 10, 1.0),),
        not_examined=("explanations by three or more columns",),
        parameters={"permutations": 999, "seed": 0},
    )
    return with_table(overview, frame)
