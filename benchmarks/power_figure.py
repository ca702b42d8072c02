"""The figure of the power study: `python -m benchmarks.power_figure FILE.json FILE.svg`.

Left, the score of a normal pair by its correlation; right, power by shape and method.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.power_peers import METHODS
from benchmarks.shapes import SHAPES

SHOWN_ROWS = 300
HEIGHT = 528
HEADINGS = {"pairs": "Two columns", "triples": "Three columns", "sets": "Two of five columns"}
ALL = "mean of all shapes"
# Colours that stay apart for colour-blind eyes (Okabe and Ito 2008).
BLUE, RED, GREY = "#0072B2", "#D55E00", "#767676"
R = "|Pearson's r|"
LINES = {"uds-chance": BLUE, "uds": RED, R: GREY}
INK = "#1a1a1a"
Rows = list[dict[str, Any]]


def draw(found: dict[str, Rows], path: Path) -> None:
    """Write the figure as SVG or PNG, by the ending of the name.

    Parameters
    ----------
    found : results by part; needs ``power`` and ``correlation``
    path : where to write
    """
    import altair as alt

    panels = []
    if found.get("correlation"):
        panels.append(correlation_panel(found["correlation"]))
    if found.get("power"):
        panels.append(power_panel(found["power"]))
    chart = (
        alt.hconcat(*panels, spacing=36, background="white", padding=12)
        .configure(font="Helvetica, Arial, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=INK, labelFontSize=12, titleFontSize=12, titleFontWeight=400
        )
        .configure_title(color=INK, fontSize=14, anchor="start", offset=12)
    )
    chart.save(str(path), **({"scale_factor": 2} if path.suffix == ".png" else {}))


def correlation_panel(scores: Rows) -> Any:
    """Return mean score over correlation, a line for each measure and a thin one for r."""
    import altair as alt

    n_rows = scores[0]["n_rows"]
    points = [
        {"line": row["measure"], "correlation": row["correlation"], "score": row["mean"]}
        for row in scores
        if row["measure"] in LINES
    ]
    points += [{"line": R, "correlation": end, "score": end} for end in (0.0, 1.0)]
    shown = [line for line in LINES if any(point["line"] == line for point in points)]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("correlation:Q", title="correlation").scale(domain=[0, 1]).axis(tickCount=5),
        y=alt.Y("score:Q", title="score").scale(domain=[0, 1]).axis(tickCount=5),
        color=alt.Color("line:N")
        .scale(domain=shown, range=[LINES[line] for line in shown])
        .legend(
            orient="top",
            title=None,
            labelFontSize=12,
            labelColor=INK,
            symbolStrokeWidth=3,
            symbolType="stroke",
            columnPadding=16,
            offset=10,
        ),
    )
    measures = base.transform_filter(alt.FieldOneOfPredicate("line", shown[:-1]))
    orientation = base.transform_filter(alt.FieldEqualPredicate(R, "line"))
    layers = alt.layer(
        orientation.mark_line(strokeWidth=1),
        measures.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=36, filled=True)),
    )
    # As far up as the other panel's title, which stands above the names of the methods.
    title = alt.TitleParams(f"Score of a normal pair, {n_rows} rows", offset=68)
    return layers.properties(width=330, height=HEIGHT, title=title)


def power_panel(power: Rows) -> Any:
    """Return power as a map: a row for each shape, a column for each method, with numbers."""
    import altair as alt

    sizes = {cell["rows"] for cell in power}
    n_rows = SHOWN_ROWS if SHOWN_ROWS in sizes else max(sizes)
    cells = mean_over_noise([cell for cell in power if cell["rows"] == n_rows])
    methods = [m.name for m in METHODS if any(cell["method"] == m.name for cell in cells)]
    emphasis = [*HEADINGS.values(), *map(mean_of, HEADINGS), ALL]
    bold_labels = {
        "condition": {"test": f"indexof({json.dumps(emphasis)}, datum.value) >= 0", "value": 700},
        "value": 400,
    }
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("method:N", title=None)
        .scale(domain=methods)
        .axis(orient="top", labelAngle=-35, labelAlign="left", domain=False, ticks=False),
        y=alt.Y("line:N", title=None)
        .scale(domain=lines({cell["line"] for cell in cells}))
        .axis(
            domain=False,
            ticks=False,
            labelLimit=200,
            labelPadding=6,
            labelFontWeight=bold_labels,
        ),
    )
    squares = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color("power:Q", title="power")
        .scale(domain=[0, 1], range=["#f7f9fc", "#d6e4f1", "#a3c6e3", "#5d9bcb", "#0b4a82"])
        .legend(
            orient="bottom",
            direction="horizontal",
            gradientLength=200,
            gradientThickness=10,
            titleColor=INK,
            labelColor=INK,
            titleFontWeight=400,
            titleOrient="left",
            tickCount=5,
        )
    )
    white_on_dark = alt.condition("datum.power > 0.79", alt.value("white"), alt.value(INK))
    plain, bold = (
        base.transform_filter(f"datum.best == {best}")
        .mark_text(fontSize=12, fontWeight=weight)
        .encode(text="label:N", color=white_on_dark)
        for best, weight in (("false", 400), ("true", 700))
    )
    title = alt.TitleParams(
        f"Power at the 5 % level, {n_rows} rows",
        subtitle="mean over three levels of noise; the best of each line in bold",
        subtitleColor=INK,
        subtitleFontSize=12,
    )
    return alt.layer(squares, plain, bold).properties(
        width=46 * len(methods), height=HEIGHT, title=title
    )


def mean_of(group: str) -> str:
    """Return what the line with the mean over a group of shapes is called."""
    return f"mean of {group}"


def lines(there: set[str]) -> list[str]:
    """Return the lines of the map from top to bottom: headings, shapes, means."""
    listed = []
    for group, heading in HEADINGS.items():
        shapes = [shape.name for shape in SHAPES if shape.group == group and shape.name in there]
        if shapes:
            listed += [heading, *shapes, mean_of(group)]
    return [*listed, " ", ALL]


def mean_over_noise(cells: Rows) -> Rows:
    """Return one cell for each line and method, with the mean of its power as a label."""
    of_line: dict[str, set[str]] = {}
    by_place: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for cell in cells:
        for line in (cell["shape"], mean_of(cell["group"]), ALL):
            of_line.setdefault(line, set()).add(cell["shape"])
            by_place.setdefault((line, cell["method"]), []).append((cell["shape"], cell["power"]))
    means = {
        (line, method): float(np.mean([power for _, power in each]))
        for (line, method), each in by_place.items()
        if {shape for shape, _ in each} == of_line[line]
    }
    best: dict[str, float] = {}
    for (line, _), mean in means.items():
        best[line] = max(best.get(line, 0.0), mean)
    return [
        {
            "line": line,
            "method": method,
            "power": mean,
            "label": f"{mean:.2f}",
            "best": f"{mean:.2f}" == f"{best[line]:.2f}",
        }
        for (line, method), mean in means.items()
    ]


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
