"""One-hot blocks: 0/1 columns of which exactly one is 1 in every row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from covary.array_types import Columns, Floats
from covary.measures.shared.content_order import table_ranks_by_content
from covary.prepare import Prepared
from covary.results.link import IDENTITY
from covary.structure.explanations import Explanations
from covary.structure.links import Draft
from covary.structure.value_counts import run_lengths

MIN_ROWS = 30
# A one-hot block has at least this many rows in which its most frequent column is 0.
MIN_OTHERS_IN_BLOCK = 20
# Partial blocks that are tried for one column; terms of a formula that is not shortened.
MAX_TRIED = 1_000
MAX_TERMS = 6


def find_blocks(prepared: Prepared, columns: Sequence[int]) -> list[Columns]:
    """Return sets of three or more 0/1 columns of which exactly one is 1 in every row.

    A column is in at most one block. Its members have the order of ``columns``.
    """
    n = prepared.n_rows
    candidates = [c for c in columns if _is_indicator(prepared, c)]
    if len(candidates) < 3 or n < MIN_ROWS:
        return []
    rank = _ranks_by_ones(prepared, candidates)
    candidates.sort(key=lambda c: rank[c])
    bits = {c: _row_bits(prepared.by_row(c)) for c in candidates}
    blocks = []
    while candidates:
        first = candidates.pop(0)
        if n + rank[first][0] < MIN_OTHERS_IN_BLOCK:
            continue
        block = _block_of(first, candidates, bits, (1 << n) - 1)
        if len(block) > 2:
            blocks.append(tuple(c for c in columns if c in block))
            candidates = [c for c in candidates if c not in block]
    return blocks


def _is_indicator(prepared: Prepared, column: int) -> bool:
    """Return whether a column without missing cells has the values 0 and 1."""
    values = prepared.values[column]
    return (
        prepared.table.columns[column].kind in ("number", "boolean")
        and prepared.n_present[column] == prepared.n_rows
        and (values[0], values[-1]) == (0.0, 1.0)
        and run_lengths(values).size == 2
    )


def _row_bits(values: Floats) -> int:
    """Return an integer whose bits are the rows with value 1."""
    return int.from_bytes(np.packbits(values != 0.0, bitorder="little").tobytes(), "little")


def _block_of(first: int, others: Sequence[int], bits: dict[int, int], rows: int) -> set[int]:
    """Return disjoint columns that cover all rows, one of them given; empty if there are none.

    The first row that is not covered decides which columns are tried next.
    """
    n_tried = 0
    start: Columns = (first,)
    stack = [(start, rows & ~bits[first], [c for c in others if not bits[c] & bits[first]])]
    while stack and n_tried < MAX_TRIED:
        block, left, disjoint = stack.pop()
        if not left:
            return set(block)
        n_tried += 1
        row = left & -left
        for column in reversed(disjoint):
            if bits[column] & row:
                remaining = [c for c in disjoint if not bits[c] & bits[column]]
                stack.append(((*block, column), left & ~bits[column], remaining))
    return set()


def block_links(prepared: Prepared, blocks: Sequence[Columns]) -> list[Draft]:
    """Return one identity for each block: its most frequent column is 1 if no other one is."""
    if not blocks:
        return []
    links = []
    for block in blocks:
        rank = _ranks_by_ones(prepared, block)
        target = min(block, key=lambda c: rank[c])
        by = tuple(c for c in block if c != target)
        names = [str(prepared.names[c]) for c in by]
        formula = f"1 - {' - '.join(names)}"
        if len(block) > MAX_TERMS:
            formula = f"1 - ({names[0]} + {names[1]} + … {len(names) - 2} more)"
        links.append(Draft(target, by, 1.0, IDENTITY, formula))
    return links


def _ranks_by_ones(prepared: Prepared, columns: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return sort keys of 0/1 columns, the one with most ones first."""
    ranks = table_ranks_by_content(prepared)
    return {c: (-int(np.count_nonzero(prepared.values[c])), int(ranks[c])) for c in columns}


def without_links_in_blocks(
    explanations: Explanations, links: Sequence[Draft], blocks: Sequence[Columns]
) -> list[Draft]:
    """Return the links without explaining columns from the block of their target.

    The links of the blocks themselves should not be among them.
    """
    members = {column: block for block in blocks for column in block}
    found = []
    for link in links:
        by = tuple(c for c in link.by if c not in members.get(link.target, ()))
        if len(by) == len(link.by):
            found.append(link)
        elif by and (explained := explanations.explained(link.target, by)) > 0.0:
            found.append(Draft(link.target, by, explained))
    return found
