"""Damaged files give a table or a one-line error, and nothing else."""

import gzip
import io
import random
import re
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from covary.errors import CovaryError, CovaryWarning
from covary.table import Table, read_table

FILES_PER_KIND = 1500


def valid_table(n_rows: int) -> pa.Table:
    rng = np.random.default_rng(n_rows)
    missing = rng.random(n_rows) < 0.2
    return pa.table(
        {
            "float": pa.array(rng.standard_normal(n_rows)),
            "holes": pa.array(rng.standard_normal(n_rows), mask=missing),
            "int": pa.array(rng.integers(0, 1000, n_rows)),
            "bool": pa.array(rng.random(n_rows) < 0.5),
            "word": pa.array([f"w{each}" for each in rng.integers(0, 9, n_rows)]),
            "price": pa.array([f"${each:.2f}" for each in rng.integers(0, 999, n_rows)]),
            "day": pa.array(rng.integers(0, 20_000, n_rows, dtype=np.int32), pa.date32()),
            "moment": pa.array(rng.integers(0, 10**15, n_rows), pa.timestamp("us")),
            "clock": pa.array(rng.integers(0, 86_400, n_rows, dtype=np.int32), pa.time32("s")),
        }
    )


def with_categories(table: pa.Table) -> pa.Table:
    codes = pa.array(np.arange(len(table), dtype=np.int8) % 3)
    ordered = pa.DictionaryArray.from_arrays(codes, ["s", "m", "l"], ordered=True)
    unordered = pa.DictionaryArray.from_arrays(codes, ["red", "größe", ""])
    return table.append_column("size", ordered).append_column("colour", unordered)


def csv_files() -> list[bytes]:
    files = []
    for n_rows in (4, 60):
        sink = io.BytesIO()
        pyarrow.csv.write_csv(valid_table(n_rows), sink)
        plain = sink.getvalue()
        files += [
            plain,
            plain.replace(b",", b";").replace(b".", b","),
            plain.replace(b",", b"\t").replace(b"\n", b"\r\n"),
            plain.replace(b'"float"', b'"a ""float"",\nin m"'),
            plain.replace(b'"float"', "größe".encode("latin-1")),
            plain.decode().encode("utf-16"),
            re.sub(rb"^.*\n", b"", plain),
            gzip.compress(plain),
        ]
    return files


def parquet_files() -> list[bytes]:
    files = []
    for table in (with_categories(valid_table(n_rows)) for n_rows in (4, 60)):
        for options in (
            {},
            {"compression": "gzip", "row_group_size": 3},
            {"compression": "none", "use_dictionary": False},
            {"compression": "zstd", "data_page_version": "2.0"},
            {"compression": "none", "write_page_checksum": True},
        ):
            sink = io.BytesIO()
            pyarrow.parquet.write_table(table, sink, **options)
            files.append(sink.getvalue())
    return files


def arrow_files() -> list[bytes]:
    files = []
    for table in (with_categories(valid_table(n_rows)) for n_rows in (4, 60)):
        for new in (pa.ipc.new_file, pa.ipc.new_stream):
            for compression in (None, "zstd"):
                sink = io.BytesIO()
                options = pa.ipc.IpcWriteOptions(compression=compression)
                with new(sink, table.schema, options=options) as writer:
                    writer.write_table(table, max_chunksize=30)
                files.append(sink.getvalue())
    return files


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return the content of a file with one to three kinds of damage."""
    damage = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        # Half of the damage is near an end of the file, where formats keep their structure.
        reach = min(len(damage), rng.choice((64, 600, len(damage), len(damage))))
        start = rng.choice((0, len(damage) - reach)) + rng.randrange(max(reach, 1))
        stop = start + rng.choice((1, 2, 4, 16, 100))
        kind = rng.choice(("flip", "flip", "replace", "cut", "drop", "repeat", "insert", "zero"))
        if kind == "flip" and damage:
            damage[start] ^= 1 << rng.randrange(8)
        elif kind == "replace":
            damage[start:stop] = rng.choice(
                (b'"', b"\n", b"\r", b",", b"\xff\xff", b"1e999", b"\0")
            )
        elif kind == "cut":
            del damage[start:]
        elif kind == "drop":
            del damage[start:stop]
        elif kind == "repeat":
            damage[start:start] = damage[start:stop]
        elif kind == "insert":
            damage[start:start] = rng.randbytes(stop - start)
        elif kind == "zero":
            damage[start:stop] = bytes(len(damage[start:stop]))
    return bytes(damage)


def outcome(path: str) -> str:
    """Return the kind of result of reading a file; raise on any other error."""
    try:
        table = read_table(path)
    except CovaryError as error:
        return "error" if str(error).isprintable() else "error that is not one line"
    assert isinstance(table, Table)
    for column in table.columns:
        assert column.values.shape == (table.n_rows,)
        assert column.values.dtype == np.float64
        for value in column.values[:3]:
            column.in_own_units(float(value))
        if column.kind == "nominal":
            codes = column.values[~np.isnan(column.values)]
            assert set(codes.tolist()) == set(range(len(column.categories)))
    return "table"


@pytest.mark.parametrize(
    ("kind", "valid_files"),
    [("csv", csv_files), ("parquet", parquet_files), ("arrow", arrow_files)],
)
def test_damaged_files_give_a_table_or_an_error(tmp_path, kind, valid_files):
    files = valid_files()
    path = tmp_path / f"table.{kind}"
    outcomes: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CovaryWarning)
        for content in files:
            path.write_bytes(content)
            assert outcome(str(path)) == "table"
        for seed in range(FILES_PER_KIND):
            rng = random.Random(f"{kind} {seed}")
            path.write_bytes(damaged(rng.choice(files), rng))
            try:
                outcomes[outcome(str(path))] += 1
            except Exception as error:
                pytest.fail(f"{kind} file of seed {seed}: {type(error).__name__}: {error}")
    # Both must happen often. Otherwise the damage is too light or too heavy for a useful test.
    assert outcomes["table"] > FILES_PER_KIND // 20
    assert outcomes["error"] > FILES_PER_KIND // 20
    assert set(outcomes) == {"table", "error"}
