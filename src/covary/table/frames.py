"""Data frames as columns, whatever library made them."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from covary import errors
from covary.table.arrays import instants, numbers_of_objects
from covary.table.table import Column


def as_frame(data: Any) -> nw.DataFrame[Any]:
    """Return any eager or lazy frame as a narwhals frame."""
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise errors.not_a_table(data) from None
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def frame_column(series: nw.Series[Any], name: str) -> Column | str:
    """Return a series as a column of floats, or in words what it is that cannot be used."""
    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name, _floats(series))
    if dtype == nw.Boolean:
        return Column(name, _floats(series), "boolean")
    if isinstance(dtype, (nw.Datetime, nw.Date, nw.Duration, nw.Time)) or dtype in (
        nw.Datetime,
        nw.Date,
        nw.Duration,
        nw.Time,
    ):
        return _date_column(series, name)
    labels = _ordered_labels(series)
    if labels is not None:
        codes = {label: float(code) for code, label in enumerate(labels)}
        values = np.array([codes.get(value, np.nan) for value in series.to_list()])
        return Column(name, values, "category", categories=labels)
    if dtype == nw.Object:
        numbers = numbers_of_objects(series.to_numpy())
        return Column(name, numbers) if numbers is not None else "a mix of objects"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return f"of type {dtype}"


def _floats(series: nw.Series[Any]) -> Any:
    """Return numbers or truth values as doubles, missing as NaN, without a copy if possible."""
    if series.dtype != nw.Float64:
        series = series.cast(nw.Float64)
    if series.null_count():
        series = series.fill_null(float("nan"))
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _date_column(series: nw.Series[Any], name: str) -> Column:
    missing = series.is_null().to_numpy().astype(bool)
    if series.dtype == nw.Time:
        # Times of day have no NumPy type: microseconds since midnight.
        clock = [0 if t is None else _microseconds(t) for t in series.to_list()]
        return instants(np.array(clock, dtype="timedelta64[us]"), missing, name)
    if getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.to_numpy()
    if values.dtype.kind not in "mM":
        values = values.astype("datetime64[us]")
    return instants(values, missing, name)


def _microseconds(time: Any) -> int:
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return int(seconds * 1_000_000 + time.microsecond)


def _ordered_labels(series: nw.Series[Any]) -> tuple[Any, ...] | None:
    """Return the labels of a category that has an order, lowest first."""
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    native = series.to_native()
    ordered = getattr(getattr(native, "cat", None), "ordered", False)  # pandas
    if ordered:
        return tuple(native.cat.categories)
    arrow = getattr(native, "type", None)  # pyarrow
    if getattr(arrow, "ordered", False):
        chunks = native.unify_dictionaries().chunks
        return tuple(chunks[0].dictionary.to_pylist()) if chunks else ()
    return None
