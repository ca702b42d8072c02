"""The figure of the power study: `python -m benchmarks.power_figure FILE.json FILE.svg`.

The left panel shows the score of a normal pair by its correlation, the right panel power by shape
and method.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.power_methods import METHODS
from benchmarks.power_shapes import SHAPES
from benchmarks.power_study import SHOWN_ROWS

HEIGHT = 528
HEADINGS = {"pairs": "Two columns", "triples": "Three columns", "sets": "Two of five columns"}
ALL_SHAPES = "mean of all shapes"
# Colours that colour-blind readers can distinguish (Okabe and Ito 2008).
BLUE, RED, GREY = "#0072B2", "#D55E00", "#767676"
PEARSON = "|Pearson's r|"
LINE_COLOURS = {"uds-chance": BLUE, "uds": RED, PEARSON: GREY}
INK = "#1a1a1a"
Rows = list[dict[str, Any]]


def draw(results: dict[str, Rows], path: Path) -> None:
    """Write the figure as SVG or PNG, depending on the file extension.

    Parameters
    ----------
    results : results by part; the figure shows ``power`` and ``correlation``
    path : the file to write
    """
    import altair as alt

    panels = []
    if results.get("correlation"):
        panels.append(correlation_panel(results["correlation"]))
    if results.get("power"):
        panels.append(power_panel(results["power"]))
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
    """Return mean score by correlation: a line for each measure, and a thin line for r."""
    import altair as alt

    n_rows = scores[0]["n_rows"]
    points = [
        {"line": row["measure"], "correlation": row["correlation"], "score": row["mean"]}
        for row in scores
        if row["measure"] in LINE_COLOURS
    ]
    points += [{"line": PEARSON, "correlation": end, "score": end} for end in (0.0, 1.0)]
    shown = [line for line in LINE_COLOURS if any(point["line"] == line for point in points)]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("correlation:Q", title="correlation").scale(domain=[0, 1]).axis(tickCount=5),
        y=alt.Y("score:Q", title="score").scale(domain=[0, 1]).axis(tickCount=5),
        color=alt.Color("line:N")
        .scale(domain=shown, range=[LINE_COLOURS[line] for line in shown])
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
    reference = base.transform_filter(alt.FieldEqualPredicate(PEARSON, "line"))
    layers = alt.layer(
        reference.mark_line(strokeWidth=1),
        measures.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=36, filled=True)),
    )
    # Aligned with the title of the other panel, which is above the names of the methods.
    title = alt.TitleParams(f"Score of a normal pair, {n_rows} rows", offset=68)
    return layers.properties(width=330, height=HEIGHT, title=title)


def power_panel(power: Rows) -> Any:
    """Return power as a heat map: a row for each shape, a column for each method, with numbers."""
    import altair as alt

    sizes = {cell["rows"] for cell in power}
    n_rows = SHOWN_ROWS if SHOWN_ROWS in sizes else max(sizes)
    cells = mean_over_noise([cell for cell in power if cell["rows"] == n_rows])
    methods = [m.name for m in METHODS if any(cell["method"] == m.name for cell in cells)]
    emphasis = [*HEADINGS.values(), *map(mean_label, HEADINGS), ALL_SHAPES]
    bold_labels = {
        "condition": {"test": f"indexof({json.dumps(emphasis)}, datum.value) >= 0", "value": 700},
        "value": 400,
    }
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("method:N", title=None)
        .scale(domain=methods)
        .axis(orient="top", labelAngle=-35, labelAlign="left", domain=False, ticks=False),
        y=alt.Y("line:N", title=None)
        .scale(domain=row_labels({cell["line"] for cell in cells}))
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
        subtitle="mean over three levels of noise; best of each row in bold",
        subtitleColor=INK,
        subtitleFontSize=12,
    )
    return alt.layer(squares, plain, bold).properties(
        width=46 * len(methods), height=HEIGHT, title=title
    )


def mean_label(group: str) -> str:
    """Return the label of the row with the mean of a group of shapes."""
    return f"mean of {group}"


def row_labels(present: set[str]) -> list[str]:
    """Return the rows of the heat map from top to bottom: headings, shapes, means."""
    labels = []
    for group, heading in HEADINGS.items():
        shapes = [shape.name for shape in SHAPES if shape.group == group and shape.name in present]
        if shapes:
            labels += [heading, *shapes, mean_label(group)]
    return [*labels, " ", ALL_SHAPES]


def mean_over_noise(power: Rows) -> Rows:
    """Return one cell for each row and method of the heat map, with mean power and label.

    A method without results for all shapes of a row has no cell.
    """
    shapes: dict[str, set[str]] = {}
    powers: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for result in power:
        for line in (result["shape"], mean_label(result["group"]), ALL_SHAPES):
            shapes.setdefault(line, set()).add(result["shape"])
            key = line, result["method"]
            powers.setdefault(key, []).append((result["shape"], result["power"]))
    means = {
        (line, method): float(np.mean([power for _, power in each]))
        for (line, method), each in powers.items()
        if {shape for shape, _ in each} == shapes[line]
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
