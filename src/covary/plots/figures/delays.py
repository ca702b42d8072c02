"""Lines of what columns explain of a target at each delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from covary.formatting import counted
from covary.plots.figures.style import LABEL_LIMIT, PALETTE, Spec, distinct_labels, shown_label

WIDTH, HEIGHT = 560, 220


def delays(
    target: object, columns: Sequence[object], scores: Sequence[Mapping[int, float]], meaning: str
) -> Spec:
    """Return a line for each column, with its best delay marked.

    Parameters
    ----------
    target : name of the target
    columns : names of the columns
    scores : by column, the score of each delay in rows
    meaning : of the scores, for the axis
    """
    labels = distinct_labels(columns)
    points, best = [], []
    for label, own in zip(labels, scores, strict=True):
        line = [
            {"column": label, "delay": delay, "score": round(score, 4)}
            for delay, score in sorted(own.items())
        ]
        points += line
        top = max(line, key=lambda point: point["score"])  # type: ignore[arg-type, return-value]
        if top["score"] > 0:  # type: ignore[operator]
            best.append({**top, "text": counted(int(top["delay"]), "row")})  # type: ignore[call-overload]
    column = {
        "field": "column",
        "type": "nominal",
        "title": "explained by" if meaning == "explained" else "column",
        "scale": {"domain": labels, "range": list(PALETTE[: len(labels)])},
        "legend": {"labelLimit": LABEL_LIMIT},
    }
    delay = {
        "field": "delay",
        "type": "quantitative",
        "title": "delay in rows",
        "axis": {"tickMinStep": 1, "grid": False},
    }
    score = {
        "field": "score",
        "type": "quantitative",
        "title": meaning,
        "scale": {"domainMin": 0},
    }
    tooltip = [
        {"field": "column", "type": "nominal", "title": "column"},
        {"field": "delay", "type": "quantitative", "title": "rows before"},
        {"field": "score", "type": "quantitative", "title": meaning, "format": ".4f"},
    ]
    axes = {"x": delay, "y": score}
    return {
        "description": f"Lines of what {counted(len(labels), 'column')} say about "
        f"{shown_label(target)} at each delay",
        "title": f"{shown_label(target)}, by the values of other columns some rows before",
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "line", "point": {"size": 18}, "strokeWidth": 1.5},
                "encoding": {**axes, "color": column, "tooltip": tooltip},
            },
            {
                "data": {"values": best},
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {**axes, "color": column, "tooltip": tooltip},
            },
            {
                "data": {"values": best},
                "mark": {"type": "text", "dy": -11, "fontSize": 11},
                "encoding": {**axes, "text": {"field": "text"}, "color": column},
            },
        ],
    }
