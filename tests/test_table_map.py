"""The map of a table: every column has a free place, and no line runs through a box."""

from __future__ import annotations

import json
import random

import pytest

from covary.errors import CovaryError
from covary.plots.accessors import OverviewPlots
from covary.plots.figures.map_geometry import Box, path_text, sampled, text_width
from covary.plots.figures.map_layers import Layers, MapLink
from covary.plots.figures.map_layout import WIDE, map_layout
from covary.plots.figures.map_shapes import HELPS
from covary.plots.table_map import MAX_COLUMNS, link_sentence, strongest_links, table_map
from covary.results import Link
from covary.results.link import COPY, FUNCTION, GO_TOGETHER, IDENTITY
from example_overviews import EXAMPLE_LINKS, example_overview, overview_of
from test_figures import HOSTILE


def random_overview(seed, n_columns=60, n_groups=5):
    """Columns in groups; most are explained by one or more columns before them."""
    rng = random.Random(seed)
    names = [f"{rng.choice(['a', 'income', 'temperature'])}_{at}" for at in range(n_columns)]
    links = []
    for group in range(n_groups):
        members = names[group::n_groups]
        for at in range(1, len(members)):
            before = members[max(0, at - rng.choice([2, 5, 9])) : at]
            by = tuple(rng.sample(before, min(len(before), rng.choice([1, 1, 1, 1, 2, 3]))))
            kind = rng.choice([COPY, GO_TOGETHER]) if rng.random() < 0.2 else "explains"
            if rng.random() < 0.85:
                by = by if kind == "explains" else by[:1]
                links.append(Link(members[at], by, rng.uniform(0.05, 0.95), kind=kind))
    return overview_of(names, links)


def overlaps(one, other):
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def is_inside(point, box, margin=1.5):
    return (
        box.x + margin < point[0] < box.right - margin
        and box.y + margin < point[1] < box.y + box.height - margin
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [(12, 3), (60, 5), (60, 1), (140, 30)])
def test_boxes_and_groups_are_apart_and_within_the_frame(seed, size):
    drawn = table_map(random_overview(seed, *size))
    boxes = [each.box for each in drawn.columns]
    frame = Box(0, 0, drawn.width, drawn.height)
    assert len(boxes) > size[0] / 2
    assert drawn.width <= WIDE
    for at, box in enumerate(boxes):
        assert not any(overlaps(box, other) for other in boxes[:at])
        assert box.x >= 0
        assert box.y >= 0
        assert box.right <= frame.right
        assert box.y + box.height <= frame.height
        assert sum(overlaps(box, panel) for panel in drawn.panels) == 1
    for at, panel in enumerate(drawn.panels):
        assert not any(overlaps(panel, other) for other in drawn.panels[:at])
    for line in drawn.lines:
        assert all(is_inside(point, frame, -0.1) for point in sampled(line.path))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [(40, 8), (60, 5), (60, 3), (140, 30)])
def test_no_line_runs_through_a_box(seed, size):
    """Faint lines of large groups run behind boxes."""
    drawn = table_map(random_overview(seed, *size))
    for line in drawn.lines:
        if line.kind == HELPS:
            continue
        others = [each.box for each in drawn.columns if each.column not in line.columns]
        points = sampled(line.path, 40)
        assert not any(is_inside(point, box) for point in points for box in others)


def test_columns_are_to_the_right_of_those_that_explain_them():
    overview = example_overview()
    box = {overview.columns[each.column]: each.box for each in table_map(overview).columns}
    for link in EXAMPLE_LINKS:
        assert all(box[name].right < box[link.target].x for name in link.by)


def large_group(n_columns):
    """Every column is explained by two columns before it."""
    names = [f"column_{at}" for at in range(n_columns)]
    links = [
        Link(names[at], (names[(at - 1) // 2], names[at - 1]), 0.9 - 0.01 * at)
        for at in range(2, n_columns)
    ]
    return overview_of(names, [Link(names[1], (names[0],), 0.95), *links])


def test_a_wide_group_is_a_tree_of_the_strongest_explaining_columns():
    overview = large_group(31)
    drawn = table_map(overview)
    box = {overview.columns[each.column]: each.box for each in drawn.columns}
    kinds = {"together": set(), HELPS: set()}
    for line in drawn.lines:
        link = overview.links[line.link]
        if len(link.by) == 2 and len(line.columns) == 2:
            start = overview.columns[line.columns[0]]
            kinds[line.kind].add((start, link.target))
    pairs = [link for link in overview.links if len(link.by) == 2]
    assert kinds["together"] == {(link.by[0], link.target) for link in pairs}
    assert kinds[HELPS] == {(link.by[1], link.target) for link in pairs}
    assert all(box[link.by[0]].right < box[link.target].x for link in overview.links)
    assert drawn.width <= WIDE
    # Faint lines are drawn first, that is, behind all others.
    are_faint = [line.kind == HELPS for line in drawn.lines]
    assert are_faint == sorted(are_faint, reverse=True)
    assert drawn.has_helpers
    assert not table_map(example_overview()).has_helpers


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_columns_and_links_does_not_matter(seed):
    overview = random_overview(seed)
    rng = random.Random(seed)
    columns, links = list(overview.columns), list(overview.links)
    rng.shuffle(columns)
    rng.shuffle(links)
    other = overview_of(columns, links)
    one, two = (
        {each.text: each.box for each in table_map(given).columns} for given in (overview, other)
    )
    assert one == two
    assert table_map(overview) == table_map(overview)


def test_lines_say_what_they_mean():
    overview = example_overview()
    drawn = table_map(overview)
    of_link = {
        link.target: [line for line in drawn.lines if line.link == at]
        for at, link in enumerate(overview.links)
    }
    assert [line.has_arrow for line in of_link["weight"]] == [True]
    assert [line.has_arrow for line in of_link["right"]] == [False]
    assert [line.has_arrow for line in of_link["price"]] == [False, False, True]
    kinds = {target: {line.kind for line in lines} for target, lines in of_link.items()}
    assert kinds["weight"] == kinds["right"] == {"explains"}
    assert kinds["price"] == {"together"}
    assert kinds["kind"] == kinds["price_eur"] == kinds["tax"] == {"exact"}
    assert of_link["price"][-1].width > of_link["weight"][0].width > of_link["right"][0].width
    assert {overview.links[each.link].target for each in drawn.joints} == {"price", "tax"}
    # All lines of several columns end where the joint is.
    joint = next(each for each in drawn.joints if each.kind == "together")
    ends = [line.path[-1].end for line in of_link["price"][:2]]
    assert ends == [joint.place, joint.place]
    numbers = {overview.columns[each.column]: each.number for each in drawn.columns}
    assert numbers["price"] == "82%"
    assert numbers["size"] == ""
    assert numbers["price_eur"] == "copy"


def test_sentences_of_links():
    sentences = [link_sentence(link) for link in EXAMPLE_LINKS]
    assert sentences == [
        "size and age explain 82% of price",
        "size explains 61% of weight",
        "kind is a function of size",
        "price_eur repeats price",
        "tax = 0.19 size + age",
        "left and right go together: 44%",
    ]
    assert link_sentence(EXAMPLE_LINKS[1], with_share=False) == "size explains weight"
    assert link_sentence(EXAMPLE_LINKS[5], with_share=False) == "left and right go together"


def test_a_large_table_shows_the_strongest_links():
    overview = random_overview(0, 1000, 40)
    drawn = table_map(overview)
    assert 140 <= len(drawn.columns) <= MAX_COLUMNS
    assert "those of the strongest links" in drawn.left_out
    shown = [overview.links[line.link] for line in drawn.lines]
    hidden = [link for link in overview.links if link not in shown]
    strongest_hidden = max(link.explained for link in hidden if link.kind != COPY)
    assert sum(link.explained > strongest_hidden for link in shown) > 70
    assert not table_map(random_overview(0)).left_out


def test_copies_come_last():
    links = [
        Link("b", ("a",), 1.0, kind=COPY),
        Link("d", ("c",), 0.2),
        Link("f", ("e",), 0.4),
        Link("g", ("e",), 1.0, kind=FUNCTION),
    ]
    assert [at for at, _ in strongest_links(links, 5)] == [1, 2, 3]
    assert [at for at, _ in strongest_links(links, 2)] == [2]
    assert [at for at, _ in strongest_links(links, 100)] == [0, 1, 2, 3]


def test_a_long_chain_continues_below():
    links = [MapLink((at,), at + 1, 0.5) for at in range(1500)]
    names = [f"x{at}" for at in range(1501)]
    layout = map_layout(links, names, [60.0] * 1501)
    assert layout.width <= WIDE
    assert len({box.y for box in layout.boxes.values()}) > 50
    boxes = list(layout.boxes.values())
    assert len({(box.x, box.y) for box in boxes}) == 1501


def test_many_columns_of_one_hub_alternate():
    links = [Link(f"leaf{at}", ("hub",), 0.5) for at in range(40)]
    drawn = table_map(overview_of(["hub", *(link.target for link in links)], links))
    assert drawn.height < 40 * 20
    assert len({each.box.x for each in drawn.columns}) == 3


def test_links_in_a_circle_are_drawn():
    links = [Link("b", ("a",), 0.5), Link("c", ("b",), 0.5), Link("a", ("c",), 0.5)]
    drawn = table_map(overview_of("abc", links))
    assert len(drawn.lines) == 3
    assert len({each.box for each in drawn.columns}) == 3
    layers = Layers([0, 1], [MapLink((0,), 1, 0.5), MapLink((1,), 0, 0.5)], "ab")
    assert sorted(layers.depth.values()) == [0, 1]


def test_hostile_names_have_short_and_distinct_texts():
    names = [*HOSTILE, "x" * 299 + "y", "line\nbreak", "\u202eright", "\x00", '"quoted"']
    links = [Link(name, (names[0],), 0.5) for name in names[1:]]
    drawn = table_map(overview_of(names, links))
    texts = [each.text for each in drawn.columns]
    assert len(set(texts)) == len(names)
    assert all(0 < len(text) <= 30 for text in texts)
    assert not any(char in text for text in texts for char in "\n\x00\u202e")
    assert "(no name)" in texts


def test_widths_of_texts():
    assert text_width("") == 0
    assert text_width("漢字") > text_width("ab")
    assert text_width("e\u0301") == text_width("e")


def test_paths_in_svg_notation():
    drawn = table_map(example_overview())
    for line in drawn.lines:
        assert path_text(line.path).startswith("M")
        start, end = line.path[0].start, line.path[-1].end
        assert sampled(line.path)[0] == start
        assert sampled(line.path)[-1] == pytest.approx(end)


# ---------------------------------------------------------------- the chart


def test_the_chart_has_the_same_places(tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    overview = example_overview()
    chart = overview.plot.graph()
    drawn = table_map(overview)
    spec = json.loads(chart.to_json())
    assert (spec["width"], spec["height"]) == (round(drawn.width), round(drawn.height))
    data = list(spec["datasets"].values()) if "datasets" in spec else []
    data += [layer["data"]["values"] for layer in spec["layer"] if "values" in layer["data"]]
    shown = {row["column"]: row["left"] for rows in data for row in rows if "column" in row}
    assert shown == {each.text: each.box.x + 8 for each in drawn.columns}
    for name in ("map.png", "map.svg"):
        chart.save(tmp_path / name)
    svg = (tmp_path / "map.svg").read_text()
    assert "price_eur" in svg
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_without_links_has_no_chart():
    with pytest.raises(CovaryError, match="nothing to draw: no column explains another"):
        OverviewPlots(overview_of("abc", [])).graph()


def test_identities_show_their_formula():
    link = Link("total", ("a", "b"), 1.0, kind=IDENTITY, formula="a + b" + " + a" * 200)
    assert link_sentence(link).startswith("total = a + b + a")
    assert len(link_sentence(link)) < 250
