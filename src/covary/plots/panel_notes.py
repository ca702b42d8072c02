"""Sentences that say how to read the panels of a set."""

from __future__ import annotations

from covary.plots.figures.level_panels import Boxes, Shares, Tiles
from covary.plots.figures.pair_panels import Pairs


def panel_notes(pairs: Pairs, *, with_rows: bool) -> list[str]:
    """Return sentences about the marks that the panels contain.

    Parameters
    ----------
    pairs : the content of the panels
    with_rows : whether the panels contain rows
    """
    panels = [pair.panel for pair in pairs.values() if pair.panel is not None]
    kinds = {type(panel) for panel in panels}
    drawn_with_fit = any(pair.fit is not None for pair in pairs.values())
    notes = ["Orange curve: best fit."] if drawn_with_fit else []
    if any(len(pair.cuts) for pair in pairs.values()):
        notes.append(
            "Dashed lines: cuts of the horizontal column that explain the vertical column best."
        )
    if any(pair.colour is not None for pair in pairs.values()):
        notes.append(
            "Colour of the points: a third column, if it is needed to explain the vertical column."
        )
    if Tiles in kinds:
        notes.append(
            "Tiles: the rows with a horizontal level, divided into the vertical levels; each "
            "column of tiles adds up to 100%."
        )
    if Boxes in kinds:
        notes.append(
            "Orange lines: medians. Boxes: the middle half of the rows with a level. Grey lines: "
            "the middle 90%."
        )
    if Shares in kinds:
        notes.append(
            "Stacked bars: the rows in a bin of the horizontal column, divided into levels."
        )
    if any(_pools(panel) for panel in panels):
        notes.append('"Other", in italics or grey: all levels that are less frequent.')
    if kinds and with_rows:
        counting = {Tiles: "tiles", Boxes: "boxes", Shares: "bars"}
        names = [name for kind, name in counting.items() if kind in kinds]
        subject = " and ".join([", ".join(names[:-1]), names[-1]]) if names[1:] else names[0]
        notes.append(f"{subject.capitalize()} count all rows of the table.")
        if kinds != {Boxes}:
            notes.append("Marked rows are white points.")
    return notes


def _pools(panel: Tiles | Boxes | Shares) -> bool:
    if isinstance(panel, Shares):
        return bool(panel.y.axis.pooled)
    return bool(panel.x.pooled or (isinstance(panel, Tiles) and panel.y.pooled))
