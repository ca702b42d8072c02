"""Convert the data frames of any library to columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from covary import errors
from covary.table.arrays import LARGEST_EXACT, array_column
from covary.table.levels import nominal_column
from covary.table.table import Column
from covary.table.texts import encoded, text_column

# A function that takes the names of all columns and returns the positions of those to read.
Choose = Callable[[Sequence[str]], Sequence[int]]

# NumPy has no number type for these. As floats, missing cells are NaN.
_CAST_FIRST = ("Boolean", "Decimal", "Int128", "UInt128")
_NUMPY_INTEGERS = {"Int64": np.int64, "UInt64": np.uint64}


def frame_series(data: Any, choose: Choose) -> tuple[int, Iterator[tuple[str, nw.Series[Any]]]]:
    """Return the number of rows and the chosen columns of an eager or lazy frame.

    Parameters
    ----------
    data : a frame that narwhals supports, or any object that exports Arrow data
    choose : takes the names of all columns and returns the positions of those to read
    """
    frame = _as_frame(data)
    if isinstance(frame, nw.LazyFrame):
        frame, wanted = _collect(frame, choose)
    else:
        wanted = choose([str(label) for label in frame.columns])
    series = list(frame.iter_columns())
    return len(frame), ((str(series[p].name), series[p]) for p in wanted)


def arrow_series(table: Any) -> tuple[int, Iterator[tuple[str, nw.Series[Any]]]]:
    """Return the number of rows and all columns of an Arrow table.

    Each column is released after use, to save memory.
    """
    remaining = list(nw.from_native(table, eager_only=True).iter_columns())[::-1]
    released = (remaining.pop() for _ in range(len(remaining)))
    return table.num_rows, ((series.name, series) for series in released)


def _as_frame(data: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError:
        labels = data.column_names if hasattr(data, "column_names") else data.columns
        raise errors.duplicate_name([str(label) for label in labels]) from None
    except TypeError:
        frame = nw.from_native(data, pass_through=True)
        if not isinstance(frame, nw.LazyFrame):
            frame = _import_arrow(data)
    return frame


def _import_arrow(data: Any) -> nw.DataFrame[Any]:
    """Return an object that exports Arrow data as a frame."""
    if not hasattr(data, "__arrow_c_stream__"):
        raise errors.not_a_table(data)
    import pyarrow as pa

    try:
        return nw.from_native(pa.table(data), eager_only=True)
    except (TypeError, ValueError):  # a single column, not a table
        raise errors.not_a_table(data) from None


def _collect(frame: nw.LazyFrame[Any], choose: Choose) -> tuple[nw.DataFrame[Any], Sequence[int]]:
    """Return a frame of the chosen columns of a lazy frame, and their positions in it."""
    try:
        wanted = choose(frame.collect_schema().names())
        return frame.select(nw.nth(*wanted)).collect(), range(len(wanted))
    except errors.CovaryError:
        raise
    except Exception as error:  # each library raises its own errors
        raise errors.not_computed(error) from None


def series_column(
    series: nw.Series[Any], name: str, as_levels: bool = False, decimal: str = ""
) -> Column | str:
    """Return a series as a column of floats, or the reason why it cannot be used.

    With ``as_levels``, every text is a level. ``decimal`` is the decimal sign in other columns of
    text.
    """
    native = series.to_native()
    dtype = series.dtype
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        series = series.dt.convert_time_zone("UTC")
    elif (zone := getattr(getattr(native, "dtype", None), "tz", None)) is not None:
        # narwhals does not support some pandas dtypes
        utc = native.dt.tz_convert("UTC").dt.tz_localize(None)
        return array_column(utc.to_numpy(), name, zone=str(zone))
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _category_column(native, dtype, name)
    if dtype == nw.String:
        return _text_column(series, name, as_levels, decimal)
    if dtype.is_nested() or _is_extension(native):
        native_type = getattr(native, "type", None) or getattr(native, "dtype", None)
        return errors.other_type_reason(f"of type {dtype if dtype.is_nested() else native_type}")
    times = _times_of_day(native)
    if times is not None:
        return Column(name, times, "date", dtype="time")
    if str(getattr(native, "dtype", "")).startswith("period["):  # pandas
        return array_column(native.dt.to_timestamp().to_numpy(), name)
    if type(dtype).__name__ in _CAST_FIRST:
        numbers = series.cast(nw.Float64)
        if dtype != nw.Boolean and (numbers.abs().max() or 0.0) >= LARGEST_EXACT:
            exact = np.array(series.to_list(), dtype=object)
            return array_column(exact, name, as_levels=as_levels)
        series = numbers
    elif not dtype.is_numeric() and series.null_count() == len(series):
        return "empty"
    elif dtype in (nw.Int64, nw.UInt64) and 0 < series.null_count() < len(series):
        filled = series.fill_null(series.min()).to_numpy().astype(_NUMPY_INTEGERS[str(dtype)])
        masked = np.ma.masked_array(filled, series.is_null().to_numpy())
        return array_column(masked, name, as_levels=as_levels)
    kind = "boolean" if dtype == nw.Boolean else ""
    return array_column(_as_array(series), name, kind, zone or "", as_levels, decimal)


def _is_extension(native: Any) -> bool:
    """Return whether a series has a type that Arrow or polars does not define."""
    dtype = getattr(native, "type", None) or getattr(native, "dtype", None)
    dtype = getattr(dtype, "pyarrow_dtype", dtype)  # pandas
    return hasattr(dtype, "storage_type") or "Extension" in type(dtype).__name__


def _as_array(series: nw.Series[Any]) -> Any:
    """Return a series as a NumPy array."""
    # For Arrow numbers, to_numpy would import pandas if it is installed.
    if series.implementation.is_pyarrow() and series.dtype in (nw.Float64, nw.Int64):
        native = series.to_native()
        array = native.chunk(0) if native.num_chunks == 1 else native.combine_chunks()
        if not array.null_count:
            return np.from_dlpack(array)
    return series.to_numpy()


def _text_column(series: nw.Series[Any], name: str, as_levels: bool, decimal: str) -> Column | str:
    try:
        return text_column(series.to_arrow(), name, as_levels, decimal)
    except UnicodeError:  # a damaged file
        return "text that is not valid Unicode"


def _category_column(native: Any, dtype: Any, name: str) -> Column | str:
    """Return a category as a column: ordered if its type says so, otherwise nominal."""
    ordered = True
    if hasattr(getattr(native, "dtype", None), "pyarrow_dtype"):  # pandas
        import pyarrow as pa

        native = pa.chunked_array(native.array.__arrow_array__())
    if isinstance(dtype, nw.Enum) and hasattr(native, "to_physical"):  # polars
        labels = native.dtype.categories
        codes = native.to_physical().cast(int).fill_null(-1)
    elif hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas
        labels, codes = native.cat.categories, native.cat.codes
        ordered = bool(native.cat.ordered)
    elif hasattr(native, "unify_dictionaries"):  # pyarrow
        array = native.unify_dictionaries().combine_chunks()
        array.validate(full=True)  # a damaged file may have codes without a label
        ordered = bool(native.type.ordered)
        if not _are_labels(array.dictionary.type):
            array = _with_text_labels(array)
        if array is None:
            return errors.other_type_reason(f"of type {native.type.value_type} as categories")
        codes, labels = encoded(array)
    else:  # polars
        return text_column(native.to_arrow(), name, as_levels=True)
    numbers = np.array(codes, dtype=np.int64)
    if not ordered:
        return nominal_column(name, numbers, list(labels), declared=True)
    values = numbers.astype(np.float64)
    values[numbers < 0] = np.nan
    return Column(name, values, "category", categories=tuple(labels))


def _are_labels(kind: Any) -> bool:
    """Return whether values of an Arrow type can be labels."""
    import pyarrow as pa

    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return not (hasattr(kind, "storage_type") or pa.types.is_nested(kind) or is_binary)


def _with_text_labels(array: Any) -> Any:
    """Return a dictionary of pandas intervals with texts as labels; None for other types."""
    import pyarrow as pa

    intervals = array.dictionary
    if str(getattr(intervals.type, "extension_name", "")) != "pandas.interval":
        return None
    closed = intervals.type.closed
    first, last = (
        "[" if closed in ("left", "both") else "(",
        "]" if closed in ("right", "both") else ")",
    )
    labels = [
        None if each is None else f"{first}{each['left']}, {each['right']}{last}"
        for each in intervals.storage.to_pylist()
    ]
    return pa.DictionaryArray.from_arrays(array.indices, pa.array(labels, pa.string()))


def _times_of_day(native: Any) -> Any:
    """Return times of day as nanoseconds since midnight; None for other data."""
    if str(getattr(native, "dtype", "")) == "Time":  # polars
        return native.to_physical().to_numpy().astype(np.float64)
    if str(getattr(native, "type", "")).startswith(("time32[", "time64[")):  # pyarrow
        counts = native.cast("time64[ns]", safe=False).cast("int64")
        return counts.to_numpy().astype(np.float64)
    return None
