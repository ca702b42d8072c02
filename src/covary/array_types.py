"""Names for the types of arrays and callbacks that appear in many signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

# Row numbers, or for each row the row that its value moves to.
Rows = npt.NDArray[np.uint32]
# Bin numbers of rows; also numbers of levels.
Codes = npt.NDArray[np.uint8]
LevelCodes = npt.NDArray[np.uint16]

# The positions of the columns of one set, ascending; and many sets of one size, one line each.
Columns = tuple[int, ...]
ColumnSets = npt.NDArray[np.int32]

# Progress of one stage: done, total. Of several stages: name of the stage, done, total.
OnProgress = Callable[[int, int], None]
OnStage = Callable[[str, int, int], None]
