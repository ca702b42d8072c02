"""Digests of tables: equal for copies, different for other content."""

from __future__ import annotations

import numpy as np
import pytest

from covary.reproduction.datasets import content_digest


@pytest.fixture
def cells():
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 3, size=(2, 40)) / 7
    numbers[1, :5] = np.nan
    words = np.array(["", "é", "a b"])[rng.integers(0, 3, 40)]
    return [*numbers, words]


LABELS = ["x", "y"] * 15 + ["z"] * 10


def test_digest_ignores_row_order_and_class_names(cells):
    digest = content_digest(cells, LABELS)
    order = np.random.default_rng(0).permutation(40)
    shuffled = [column[order] for column in cells]
    renamed = [{"x": "3", "y": "1", "z": "2"}[each] for each in LABELS]
    assert content_digest(shuffled, np.array(renamed)[order]) == digest
    assert content_digest(shuffled) == content_digest(cells)


def test_digest_differs_for_other_content(cells):
    digests = {content_digest(cells, LABELS), content_digest(cells)}
    for column, row, other in [(0, 7, 0.5), (0, 7, np.nan), (1, 0, 0.0), (2, 9, "é b")]:
        changed = [each.copy() for each in cells]
        changed[column][row] = other
        digests.add(content_digest(changed, LABELS))
    digests.add(content_digest([cells[1], cells[0], cells[2]], LABELS))
    digests.add(content_digest(cells[:2], LABELS))
    digests.add(content_digest([column[1:] for column in cells], LABELS[1:]))
    digests.add(content_digest(cells, LABELS[::-1]))  # classes of the same sizes
    assert len(digests) == 10


def test_digest_treats_all_zeros_and_all_nans_alike():
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(float)[0]
    assert content_digest([np.array([-0.0, other_nan, 1.0])]) == content_digest(
        [np.array([0, np.nan, 1])]
    )
    integers = np.array([3, 1, 2])
    assert content_digest([integers]) == content_digest([integers.astype(float)])
