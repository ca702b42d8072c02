"""Figures as Altair charts, from plain numbers: nothing is computed here but where things go.

Names of columns are data, never names of fields, so that no name can mean anything to Vega.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from covary.names import printable
from covary.report.fits import Fit

Floats = npt.NDArray[np.float64]

CELL = 22
MOST_CELLS_WITH_NUMBERS = 14
LABEL_LIMIT = 160
SIDE = 180
ABREAST = 3
POINTS = "#3b6fb6"
CURVE = "#d95f02"
FADED = "#c8ccd2"
SCHEME: Final = "viridis"
GRAPH_WIDTH = 760
GRAPH_SPACING = 110


class Edge(NamedTuple):
    """Two columns, by their numbers, and how strongly they depend on each other."""

    one: int
    other: int
    strength: float


class Axis(NamedTuple):
    """A column to be drawn: its name, its values, and the type that Vega-Lite has for them."""

    name: str
    values: Sequence[Any]
    type: Literal["quantitative", "temporal", "ordinal"] = "quantitative"


class Pair(NamedTuple):
    """What is drawn into the points of two columns: a curve, and where the first is cut."""

    fit: Fit | None = None
    cuts: Sequence[Any] = ()


def heatmap(names: Sequence[str], scores: Floats, measure: str) -> Any:
    """Return a square of all scores, columns in the order of ``names``."""
    import altair as alt

    labels = _labels(names)
    cells: list[dict[str, Any]] = [
        {"row": labels[i], "column": labels[j], "score": float(scores[i, j])}
        for i in range(len(labels))
        for j in range(len(labels))
        if i != j
    ]
    axis = alt.Axis(labelLimit=LABEL_LIMIT, title=None, ticks=False, domain=False)
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("column:N", sort=labels, axis=axis, scale=alt.Scale(domain=labels)),
        y=alt.Y("row:N", sort=labels, axis=axis, scale=alt.Scale(domain=labels)),
        tooltip=[
            alt.Tooltip("row:N", title="column"),
            alt.Tooltip("column:N", title="and"),
            alt.Tooltip("score:Q", title=measure, format=".4f"),
        ],
    )
    squares = base.mark_rect().encode(
        color=alt.Color("score:Q", title=measure, scale=alt.Scale(scheme=SCHEME, domainMin=0))
    )
    chart: Any = squares
    if len(labels) <= MOST_CELLS_WITH_NUMBERS:
        highest = max((cell["score"] for cell in cells), default=0.0)
        light = alt.datum.score > highest / 2
        numbers = base.mark_text(fontSize=10).encode(
            text=alt.Text("score:Q", format=".2f"),
            color=alt.when(light).then(alt.value("black")).otherwise(alt.value("white")),
        )
        chart = squares + numbers
    side = CELL * len(labels) if len(labels) > MOST_CELLS_WITH_NUMBERS else 34 * len(labels)
    return chart.properties(
        width=side,
        height=side,
        title=f"{measure} of all pairs",
        description=f"Heat map of the {measure} of all pairs of {len(labels)} columns",
    )


def graph(names: Sequence[str], edges: Sequence[Edge], measure: str) -> Any:
    """Return the columns as points and their strongest relations as lines."""
    import altair as alt

    labels = _labels(names)
    places, width, height = _layout(edges)
    lines = [
        {
            "x": places[one][0],
            "y": places[one][1],
            "x2": places[other][0],
            "y2": places[other][1],
            "one": labels[one],
            "other": labels[other],
            "strength": float(strength),
        }
        for one, other, strength in edges
    ]
    points = [{"x": x, "y": y, "column": labels[column]} for column, (x, y) in places.items()]
    empty = alt.Axis(title=None, labels=False, ticks=False, domain=False, grid=False)
    x = alt.X("x:Q", axis=empty, scale=alt.Scale(domain=[0, width]))
    y = alt.Y("y:Q", axis=empty, scale=alt.Scale(domain=[height, 0]))
    thick = alt.Scale(domainMin=0, range=[0.5, 7])
    shade = alt.Scale(domainMin=0, range=["#dce6f2", "#08306b"])
    drawn = (
        alt.Chart(alt.Data(values=lines))
        .mark_rule()
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            strokeWidth=alt.StrokeWidth("strength:Q", scale=thick, legend=None),
            color=alt.Color("strength:Q", title=measure, scale=shade),
            tooltip=[
                alt.Tooltip("one:N", title="column"),
                alt.Tooltip("other:N", title="and"),
                alt.Tooltip("strength:Q", title=measure, format=".4f"),
            ],
        )
    )
    columns = alt.Chart(alt.Data(values=points)).encode(x=x, y=y, tooltip=["column:N"])
    dots = columns.mark_circle(size=90, color=CURVE, opacity=1)
    words = columns.mark_text(dy=-11, fontSize=11, limit=LABEL_LIMIT).encode(text="column:N")
    return (drawn + dots + words).properties(
        width=width,
        height=height,
        title="What depends on what: the strongest pairs",
        description=f"Graph of {len(points)} columns and their {len(lines)} strongest pairs",
    )


def _layout(edges: Sequence[Edge]) -> tuple[dict[int, tuple[float, float]], int, int]:
    """Return where each column goes, in pixels, and how large the picture is.

    Columns that are connected are laid out by themselves, the largest group first, row by row.
    """
    import networkx as nx

    network = nx.Graph()
    network.add_edges_from((edge.one, edge.other) for edge in edges)
    groups = sorted(nx.connected_components(network), key=lambda group: (-len(group), min(group)))
    places: dict[int, tuple[float, float]] = {}
    left = top = row_height = 0.0
    widest = 0.0
    for group in groups:
        steps = np.sqrt(len(group) - 1)
        wide = min(GRAPH_SPACING * (1.0 + 1.3 * steps), GRAPH_WIDTH)
        high = GRAPH_SPACING * (0.5 + 0.8 * steps)
        if left > 0 and left + wide > GRAPH_WIDTH:
            left, top, row_height = 0.0, top + row_height, 0.0
        members = sorted(group)
        inside = _spread(network.subgraph(members), members)
        for column, (x, y) in zip(members, inside, strict=True):
            across = left + wide / 2 + x * (wide - GRAPH_SPACING) / 2
            down = top + high / 2 + y * (high - GRAPH_SPACING / 2) / 2
            places[column] = (round(float(across), 1), round(float(down), 1))
        left += wide
        widest = max(widest, left)
        row_height = max(row_height, high)
    return places, int(widest), int(top + row_height)


def _spread(network: Any, columns: Sequence[int]) -> Floats:
    """Return places of connected columns, from -1 to 1, the longer side lying flat."""
    import networkx as nx

    near = nx.kamada_kawai_layout(network)
    apart = nx.spring_layout(network, pos=near, k=2.0 / np.sqrt(len(columns)), seed=0)
    places = np.array([apart[column] for column in columns])
    places -= places.mean(axis=0)
    _, directions = np.linalg.eigh(places.T @ places)
    places = places @ directions[:, ::-1]
    reach = np.abs(places).max(axis=0)
    return np.asarray(places / np.where(reach > 1e-6, reach, 1.0))


def projections(axes: Sequence[Axis], pairs: dict[tuple[int, int], Pair]) -> Any:
    """Return the points of every two columns; a brush in one marks the same rows in all."""
    import altair as alt

    rows = [
        {f"c{at}": value for at, value in enumerate(cells)}
        for cells in zip(*(axis.values for axis in axes), strict=True)
    ]
    points = alt.NamedData(name="points")  # once for all panels
    brush = alt.selection_interval(name="brush", resolve="global")
    charts = []
    for one, other in combinations(range(len(axes)), 2):
        pair = pairs.get((one, other), Pair())
        encoded = {
            "x": _encoding(alt.X, one, axes[one]),
            "y": _encoding(alt.Y, other, axes[other]),
        }
        marks = (
            alt.Chart(points, name=f"points_{one}_{other}")
            .mark_circle(size=16)
            .encode(
                **encoded,
                color=alt.when(brush).then(alt.value(POINTS)).otherwise(alt.value(FADED)),
                opacity=alt.when(brush).then(alt.value(0.6)).otherwise(alt.value(0.25)),
            )
            .add_params(brush)
        )
        layers = [marks]
        if len(pair.cuts):
            layers.insert(0, _cuts(pair.cuts, axes[one]))
        title = ""
        if pair.fit is not None:
            layers.append(_curve(pair.fit))
            title = f"{pair.fit.kind}, R² = {pair.fit.r2:.3f}"
        chart = alt.layer(*layers) if len(layers) > 1 else marks
        charts.append(
            chart.properties(
                width=SIDE,
                height=SIDE,
                title=alt.TitleParams(title, fontSize=11, fontWeight="normal", anchor="start"),
            )
        )
    names = ", ".join(printable(axis.name) for axis in axes)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Automatically deduplicated")  # one brush is meant
        together = alt.concat(*charts, columns=ABREAST, datasets={"points": rows})
    return together.properties(description=f"Points of every two of the columns {names}")


def null_distribution(null: Floats, observed: float, pvalue: float) -> Any:
    """Return the evidence of permuted tables as a histogram, with that of the table itself."""
    import altair as alt

    counts, edges = np.histogram(null, bins=min(30, max(5, int(np.sqrt(null.size)))))
    bars = [
        {"from": float(a), "to": float(b), "count": int(k)}
        for a, b, k in zip(edges, edges[1:], counts, strict=False)
    ]
    histogram = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar(color=FADED)
        .encode(
            x=alt.X("from:Q", title="evidence", bin="binned"),
            x2="to:Q",
            y=alt.Y("count:Q", title="permuted tables"),
        )
    )
    line = (
        alt.Chart(alt.Data(values=[{"at": float(observed)}]))
        .mark_rule(color=CURVE, strokeWidth=2)
        .encode(x="at:Q")
    )
    return (histogram + line).properties(
        width=260,
        height=120,
        title=f"this table against {null.size:,} permuted ones: p = {pvalue:.2g}",
        description="Histogram of the evidence of permuted tables, with that of the table",
    )


def _labels(names: Sequence[str]) -> list[str]:
    """Return names that can be shown, all of them different."""
    shown = [printable(name) or "(no name)" for name in names]
    return [
        label if shown.count(label) == 1 else f"{label} ({at})" for at, label in enumerate(shown)
    ]


def _encoding(channel: Any, at: int, axis: Axis) -> Any:
    import altair as alt

    title = printable(axis.name) or "(no name)"
    encoded = channel(field=f"c{at}", type=axis.type, title=title)
    if axis.type == "quantitative":
        encoded = encoded.scale(alt.Scale(zero=False, nice=False, padding=6))
    return encoded


def _cuts(cuts: Sequence[Any], axis: Axis) -> Any:
    import altair as alt

    at = [{"cut": cut} for cut in cuts]
    chart = alt.Chart(alt.Data(values=at)).mark_rule(color=FADED, strokeDash=[3, 3])
    return chart.encode(x=alt.X(field="cut", type=axis.type))


def _curve(fit: Fit) -> Any:
    import altair as alt

    along = [{"x": float(a), "y": float(b)} for a, b in zip(fit.x, fit.y, strict=True)]
    chart = alt.Chart(alt.Data(values=along)).mark_line(color=CURVE, strokeWidth=2)
    return chart.encode(x="x:Q", y="y:Q")
