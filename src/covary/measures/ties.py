"""An order for columns of equal entropy that depends on nothing but what they hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from covary import kernels
from covary.measures.base import Sets
from covary.prepare import Prepared

Numbers = npt.NDArray[np.uint64]


def by_content(
    prepared: Prepared, sets: Sets, levels: Numbers, beside: tuple[int, ...] = ()
) -> Sets:
    """Return each set with the columns of one level in an order that their cells decide.

    It is the same in whatever order columns and rows come, and in whatever units: columns go by a
    hash of how their ranks meet those of the others in the set.

    Parameters
    ----------
    sets, levels : one line per set, and a number for each of its columns, from 0 on without
        gaps, that comes before what they hold
    beside : columns that are not in the sets but take part in telling theirs apart

    """
    n_columns = sets.shape[1]
    for column in beside:
        sets = np.insert(sets, sets.shape[1], column, axis=1)
        levels = np.insert(levels, levels.shape[1], levels.shape[1], axis=1)
    contents = kernels.contents.rename(prepared.ranks, sets, levels)
    order = np.lexsort((contents, levels), axis=1)
    ordered = np.take_along_axis(sets, order, axis=1)
    for line in np.flatnonzero(_alike(levels, contents, order).any(axis=1)).tolist():
        ordered[line] = _told_apart(prepared, sets[line], levels[line])
    return ordered[:, :n_columns]


def one_by_content(prepared: Prepared, columns: Sequence[int]) -> list[int]:
    """Return the columns of one set in an order that their cells decide."""
    sets = np.array([columns], np.int32)
    # Ranks do not tell a missing cell from a highest value: numbers of cells do.
    levels = np.unique(prepared.n_present[sets], return_inverse=True)[1].reshape(sets.shape)
    ordered = by_content(prepared, sets, levels.astype(np.uint64))
    return list(ordered[0].tolist())


def _alike(
    levels: Numbers, contents: Numbers, order: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which columns, in this order, are not told apart from the one before."""
    levels = np.take_along_axis(levels, order, axis=-1)
    contents = np.take_along_axis(contents, order, axis=-1)
    same: npt.NDArray[np.bool_] = (levels[..., 1:] == levels[..., :-1]) & (
        contents[..., 1:] == contents[..., :-1]
    )
    return same


def _told_apart(
    prepared: Prepared, columns: npt.NDArray[np.int32], levels: Numbers
) -> npt.NDArray[np.int32]:
    """Return one set in the order of its contents, where looking once was not enough."""
    # Range and least value only matter between columns that play the same part in all else.
    rank = np.lexsort((prepared.values[columns, 0], prepared.widths[columns], levels))
    columns, levels = columns[rank], levels[rank]
    names = levels.copy()
    while True:
        contents = names
        for _ in range(3):
            contents = kernels.contents.rename(prepared.ranks, columns[None], contents[None])[0]
        order = np.lexsort((contents, levels))
        alike = order[1:][_alike(levels, contents, order)]
        if alike.size == 0:
            return columns[order]
        # They play the same part among the columns, but which comes first may matter to the
        # next: single one out, and look what that makes of the others.
        # The last of the last: chosen by contents, and only among equals by range.
        names[alike[-1]] = len(columns) + len(set(names.tolist()))
