"""Data sets: content, folder, cache and download."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
import warnings
from email.message import Message
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from covary import errors
from covary.errors import CovaryError, CovaryWarning, ParameterError
from covary.reproduction.datasets import DATASETS, Dataset, Loaded, content_digest, load, missing

# Rows, columns and classes, from the published descriptions.
SIZES = {
    "optdigits": (5620, 64, 10),
    "leaves_margin": (1600, 64, 100),
    "leaves_shape": (1600, 64, 100),
    "leaves_texture": (1599, 64, 100),
    "leaves_all": (1584, 192, 99),
    "letter": (20000, 16, 26),
    "pendigits": (10992, 16, 10),
    "robot_wall24": (5456, 24, 4),
    "waveform": (5000, 21, 3),
    "ann_thyroid": (7200, 21, 3),
    "satimage": (6435, 36, 6),
    "segmentation": (2310, 19, 7),
    "waveform_noise": (5000, 40, 3),
    "wbc": (699, 9, 2),
    "wdbc": (569, 30, 2),
    "communities": (1994, 128, 0),
    "appliances_energy": (19735, 29, 0),
    "energy_efficiency": (768, 10, 0),
    "california_housing": (20640, 9, 0),
    "wine_quality": (6497, 12, 2),
    "abalone": (4177, 8, 3),
    "penguins": (344, 7, 3),
    "diamonds": (53940, 10, 0),
    "gapminder": (1704, 5, 5),
    "spellman_yeast": (23, 4382, 0),
}
FETCHED = [name for name, dataset in DATASETS.items() if dataset.can_be_fetched]
OTHER_TABLE_WARNING = "of the published results"


# ---------------------------------------------------------------- the real tables


def test_catalogue_has_all_sizes():
    sizes = {
        name: (each.rows, each.columns, each.classes)
        for name, each in DATASETS.items()
        if name != "tiny"
    }
    assert sizes == SIZES


@pytest.mark.parametrize("name", SIZES)
def test_real_table(real_tables, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load(name, real_tables)
    assert not any(OTHER_TABLE_WARNING in str(each.message) for each in caught)
    assert isinstance(loaded, Loaded)
    rows, columns, classes = SIZES[name]
    assert loaded.name == name
    assert loaded.table.n_rows == rows
    assert len(loaded.table.columns) + len(loaded.table.left_out) == columns
    assert "label" not in loaded.table.names
    if classes:
        assert len(loaded.labels) == rows
        assert len(set(loaded.labels)) == classes
    else:
        assert loaded.labels is None


@pytest.mark.parametrize("name", FETCHED)
def test_files_have_the_column_names_of_the_catalogue(real_tables, name):
    with gzip.open(real_tables / f"{name}.csv.gz", "rt") as file:
        header = next(csv.reader(file))
    assert DATASETS[name].names == tuple(header[: DATASETS[name].columns])


def test_the_table_of_scikit_learn(real_tables, cache, openml):
    loaded = load("wdbc")
    assert loaded.labels == load("wdbc", real_tables).labels
    assert loaded.table.names == load("wdbc", real_tables).table.names
    assert openml.calls == []


def read_csv(path):
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    return header, rows


def test_openml_codes_become_category_names(real_tables, cache, openml):
    _, rows = read_csv(real_tables / "abalone.csv.gz")
    *columns, sexes = zip(*rows, strict=True)
    rings = sorted(set(columns[-1]))
    openml.sends(
        data=np.array([*columns[:-1], [rings.index(each) for each in columns[-1]]], float).T,
        feature_names=[f"their name {number}" for number in range(8)],
        categories={"their name 7": rings},
        target=np.array(sexes, dtype=object),
    )
    loaded = load("abalone")
    assert openml.calls[0]["target_column"] == "Sex"
    assert loaded.labels == list(sexes)
    assert loaded.table.names == DATASETS["abalone"].names


def test_openml_columns_in_another_order(real_tables, cache, openml):
    header, rows = read_csv(real_tables / "california_housing.csv.gz")
    openml.sends(data=np.array(rows, float)[::-1, ::-1], feature_names=header[::-1], target=None)
    loaded = load("california_housing")
    assert loaded.labels is None
    assert loaded.table.names == tuple(header)


def test_missing_cells_and_numbers_as_classes(real_tables, cache, openml):
    _, rows = read_csv(real_tables / "wbc.csv.gz")
    cells = np.array([[each or "nan" for each in row[:-1]] for row in rows], float)
    openml.sends(data=cells, target=np.array([2.0 + 2 * (row[-1] != "benign") for row in rows]))
    loaded = load("wbc")
    assert sorted(set(loaded.labels)) == ["2", "4"]
    values = loaded.table.columns[5].values
    assert np.isnan(values).sum() == 16
    np.testing.assert_array_equal(values, cells[:, 5])


# ---------------------------------------------------------------- folder and cache

COLUMNS = [np.array([0.1, 2.0, 3.0, -4.0, np.nan]), np.array([1.0, 1.0, 2.0, 2.0, 1e-30])]
CLASSES = np.array(["p", "q", "q", "p", "p"], dtype=object)
TINY = "a,b,label\n0.1,1,p\n2,1,q\n3,2,q\n-4,2,p\n,1e-30,p\n"


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    digest = content_digest(COLUMNS, CLASSES)
    dataset = Dataset("tiny", 5, 2, 2, "nowhere", digest, openml=1, names=("a", "b"))
    monkeypatch.setitem(DATASETS, "tiny", dataset)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return tmp_path / "home" / "covary"


class OpenML:
    """Replacement for the function that downloads from OpenML."""

    def __init__(self):
        self.calls = []
        self.answer = URLError("no network in tests")

    def sends(self, data, target, feature_names=None, categories=None):
        names = feature_names or [f"V{number}" for number in range(data.shape[1])]
        self.answer = Bunch(data=data, target=target, feature_names=names, categories=categories)

    def __call__(self, **request):
        self.calls.append(request)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def openml(monkeypatch):
    replacement = OpenML()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", replacement)
    return replacement


def write_tiny(folder, content=TINY):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny.csv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    return path


def assert_is_tiny(loaded):
    assert loaded.table.names == ("a", "b")
    for column, values in zip(loaded.table.columns, COLUMNS, strict=True):
        np.testing.assert_array_equal(column.values, values)
    assert loaded.labels == list(CLASSES)


def error_message(*arguments):
    with pytest.raises(CovaryError) as caught:
        load(*arguments)
    line = str(caught.value)
    assert line.isprintable()
    return line


def test_folder_comes_first(tmp_path, cache, openml):
    write_tiny(cache, "a,b\n1,2\n3,4\n5,6\n")
    write_tiny(tmp_path / "folder")
    assert_is_tiny(load("tiny", tmp_path / "folder"))
    assert_is_tiny(load("tiny", str(tmp_path / "folder")))
    assert openml.calls == []


def test_cache_comes_second(cache, openml):
    write_tiny(cache)
    assert_is_tiny(load("tiny"))
    assert openml.calls == []


def test_folder_without_the_file(tmp_path, cache, openml):
    write_tiny(cache)
    message = error_message("tiny", tmp_path)
    assert message.startswith(f"the folder {tmp_path} has no tiny.csv.gz: put it there (tiny: ")
    nowhere = tmp_path / "nowhere"
    assert error_message("tiny", nowhere).startswith(f"there is no folder {nowhere}")
    assert openml.calls == []


def test_missing_tables(tmp_path, cache, openml):
    assert list(missing(["segmentation", "wdbc", "segmentation"])) == ["segmentation"]
    assert missing(["segmentation"])["segmentation"] == DATASETS["segmentation"].origin
    assert list(missing(["segmentation", "wdbc"], tmp_path)) == ["segmentation", "wdbc"]
    (tmp_path / "wdbc.csv").write_text("a,label\n1,x\n2,y\n")
    assert list(missing(["segmentation", "wdbc"], tmp_path)) == ["segmentation"]
    assert openml.calls == []


def test_a_table_of_scikit_learn_needs_no_cache(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(file / "data"))
    assert missing(["wdbc"]) == {}
    assert load("wdbc").published
    assert error_message("penguins").startswith("there is no folder for downloaded data sets")


@pytest.mark.parametrize("folder", [None, "."])
def test_missing_tables_are_reported_with_their_origins(folder):
    message = str(errors.datasets_missing({"one": "UCI One", "two": "UCI Two"}, folder))
    assert "one.csv.gz, two.csv.gz" in message
    assert "(one: UCI One; two: UCI Two)" in message
    assert ("put them there" in message) == (folder is not None)


def test_a_table_need_not_be_compressed(tmp_path):
    (tmp_path / "wdbc.csv").write_text("a,b,label\n1,2,x\n2,3,y\n3,5,y\n")
    with pytest.warns(CovaryWarning, match="is not the table"):
        loaded = load("wdbc", tmp_path)
    assert not loaded.published
    assert loaded.labels == ["x", "y", "y"]
    arrow = loaded.to_arrow()
    assert arrow.column_names == ["a", "b", "label"]
    assert arrow["b"].to_pylist() == [2.0, 3.0, 5.0]
    assert repr(loaded) == "<wdbc: 3 rows, 2 columns, 2 classes>"


@pytest.mark.parametrize(
    "content",
    [
        TINY.replace("0.1,", "0.2,"),
        TINY.replace(",q", ",p"),
        "b,a,label\n1,0.1,p\n1,2,q\n2,3,q\n2,-4,p\n1e-30,,p\n",
        "a,b\n0.1,1\n2,1\n3,2\n-4,2\n,1e-30\n",
    ],
)
def test_another_table_in_the_folder_causes_a_warning(tmp_path, content):
    path = write_tiny(tmp_path, content)
    with pytest.warns(CovaryWarning) as caught:
        loaded = load("tiny", tmp_path)
    assert loaded.table.n_rows == 5
    lines = [str(each.message) for each in caught]
    assert (
        f"{path} is not the table tiny of the published results: its cells or classes differ"
    ) in lines


def test_a_copy_may_have_other_names_and_row_order(tmp_path):
    write_tiny(tmp_path, "c,d,label\n,1e-30,7\n-4,2.0,7\n3,2,8\n2,1,8\n1e-1,1,7\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load("tiny", tmp_path)
    assert not any(OTHER_TABLE_WARNING in str(each.message) for each in caught)
    assert loaded.table.names == ("c", "d")
    assert loaded.labels == ["7", "7", "8", "8", "7"]


def test_damaged_file(tmp_path):
    path = write_tiny(tmp_path, TINY * 500)
    path.write_bytes(path.read_bytes()[:-20])
    assert "tiny.csv.gz: it is damaged" in error_message("tiny", tmp_path)
    path.write_bytes(b"a,b\n1,2\n")
    assert "tiny.csv.gz: it is damaged" in error_message("tiny", tmp_path)
    write_tiny(tmp_path, "a,b,label\n1,2\n")
    assert "line 2 has 2 cells, but the first row has 3" in error_message("tiny", tmp_path)
    write_tiny(tmp_path, "a,a,label\n1,2,3\n")
    assert "have the same name 'a'" in error_message("tiny", tmp_path)


def test_file_without_read_permission(tmp_path, monkeypatch):
    def closed(*_):
        raise PermissionError(13, "Permission denied")

    write_tiny(tmp_path)
    monkeypatch.setattr("gzip.open", closed)
    assert "tiny.csv.gz: permission denied" in error_message("tiny", tmp_path)


def test_unknown_name(tmp_path):
    for arguments in (["lettre"], ["lettre", tmp_path]):
        line = error_message(*arguments)
        assert "there is no data set 'lettre'. Did you mean 'letter'?" in line
        assert "'optdigits', 'leaves_margin'" in line
    with pytest.raises(ParameterError, match=r"there is no data set '\.\./letter'"):
        load("../letter")


# ---------------------------------------------------------------- download

ADVICE = "put tiny.csv.gz into a folder and pass it with --data DIR (in Python folder='DIR')"


def test_download_is_cached(cache, openml):
    openml.sends(data=np.column_stack(COLUMNS), target=CLASSES)
    assert_is_tiny(load("tiny"))
    assert openml.calls[0]["data_id"] == 1
    assert openml.calls[0]["as_frame"] is False
    assert [path.name for path in cache.iterdir()] == ["tiny.csv.gz"]
    assert gzip.decompress((cache / "tiny.csv.gz").read_bytes()).decode() == TINY
    openml.answer = URLError("no network")
    assert_is_tiny(load("tiny"))
    assert_is_tiny(load("tiny", cache))
    assert len(openml.calls) == 1


@pytest.mark.parametrize(
    "sent",
    [
        {"data": np.column_stack(COLUMNS[::-1]), "target": CLASSES},
        {"data": np.column_stack(COLUMNS) + 1e-9, "target": CLASSES},
        {"data": np.column_stack(COLUMNS)[:-1], "target": CLASSES[:-1]},
        {"data": np.column_stack(COLUMNS), "target": CLASSES[::-1]},
        {"data": np.column_stack(COLUMNS), "target": None},
        {"data": np.column_stack([*COLUMNS, COLUMNS[0]]), "target": CLASSES},
    ],
)
def test_download_of_another_table(cache, openml, sent):
    openml.sends(**sent)
    assert error_message("tiny") == (
        f"the tiny that OpenML sent differs from the table of the experiments: {ADVICE}"
    )
    assert not cache.exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (URLError(OSError(-2, "Name or service not known")), "Name or service not known"),
        (URLError("no route"), "no route"),
        (HTTPError("", 404, "Not Found", Message(), io.BytesIO()), "HTTP Error 404: Not Found"),
        (HTTPError("", 500, "Broken", Message(), io.BytesIO()), "HTTP Error 500: Broken"),
        (TimeoutError(), "TimeoutError"),
        (TimeoutError("timed out"), "timed out"),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
        (ValueError("The md5 checksum does\nnot match"), "The md5 checksum does not match"),
        (KeyError("data"), "'data'"),
    ],
)
def test_no_network(cache, openml, error, reason):
    openml.answer = error
    line = error_message("tiny")
    assert line.startswith("the download of tiny failed (")
    assert f"{reason}): {ADVICE}" in line
    assert not cache.exists()


def test_interrupt_is_passed_on(cache, openml):
    openml.answer = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        load("tiny")


def test_retries_cause_no_warning(cache, monkeypatch):
    def fails(**_):
        warnings.warn("A network error occurred. Retrying...", stacklevel=1)
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fails)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "no route" in error_message("tiny")


@pytest.mark.parametrize("name", [name for name in SIZES if name not in FETCHED])
def test_table_without_download(cache, openml, name):
    line = error_message(name)
    assert line.startswith(f"covary cannot download {name} ({DATASETS[name].origin}): put ")
    assert "--data DIR" in line
    assert openml.calls == []


def test_full_disk_leaves_no_file(cache, openml, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    openml.sends(data=np.column_stack(COLUMNS), target=CLASSES)
    monkeypatch.setattr("gzip.compress", full)
    assert "tiny.csv.gz: No space left on device" in error_message("tiny")
    assert list(cache.iterdir()) == []


def test_no_folder_for_the_cache(tmp_path, monkeypatch, openml):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "file"))
    assert "SCIKIT_LEARN_DATA" in error_message("tiny")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    (tmp_path / "covary").write_text("")
    openml.sends(data=np.column_stack(COLUMNS), target=CLASSES)
    assert error_message("tiny").startswith("cannot write")


def test_import_loads_no_large_package():
    code = "import covary.reproduction.datasets, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"sklearn", "pyarrow", "pandas", "numba"}.isdisjoint(run.stdout.split())


def test_the_old_module_name_is_deprecated():
    with pytest.warns(DeprecationWarning, match=r"use covary\.reproduction\.datasets"):
        from covary.datasets import load as deprecated_load
    assert deprecated_load is load
    import covary.datasets

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = covary.datasets.nothing
