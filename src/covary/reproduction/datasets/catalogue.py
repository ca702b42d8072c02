"""Catalogue of the tables: sizes, sources, digests and names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Name of the column with the class, which is the last column.
LABEL = "label"


@dataclass(frozen=True)
class Dataset:
    """A table of the experiments.

    Parameters
    ----------
    name : name of the table
    rows, columns : numbers of rows and columns, without the class
    classes : number of classes; 0 for a table without classes
    origin : where the table was published
    digest : `content_digest` of its columns and classes
    openml : its ID at OpenML; the downloaded table must have the digest
    target : name of the class at OpenML; None for a table without classes
    bundled : the function of scikit-learn that returns the table
    names : names of its columns, if it can be fetched
    """

    name: str
    rows: int
    columns: int
    classes: int
    origin: str
    digest: str
    openml: int | None = None
    target: str | None = "default-target"
    bundled: str = ""
    names: tuple[str, ...] = ()

    @property
    def can_be_fetched(self) -> bool:
        """Whether the table is available without a folder."""
        return self.openml is not None or bool(self.bundled)


def _numbered(pattern: str, n_columns: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in range(1, n_columns + 1))


def _combined(first: str, second: str) -> tuple[str, ...]:
    return tuple(f"{one}_{two}" for one in first.split() for two in second.split())


def _words(*words: str) -> tuple[str, ...]:
    return tuple(" ".join(words).split())


# Names of columns of the tables that can be fetched; OpenML uses other names.
_COLUMN_NAMES = {
    "optdigits": tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
    "leaves_margin": _numbered("margin_{:02d}", 64),
    "leaves_texture": _numbered("texture_{:02d}", 64),
    "letter": _words(
        "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybar xy2bar x-ege xegvy",
        "y-ege yegvx",
    ),
    "pendigits": tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy"),
    "robot_wall24": _numbered("US{}", 24),
    "satimage": _combined(
        "top_left top_mid top_right mid_left centre mid_right bottom_left bottom_mid bottom_right",
        "band1 band2 band3 band4",
    ),
    "waveform_noise": _numbered("x{}", 40),
    "wbc": _words(
        "clump_thickness uniformity_of_cell_size uniformity_of_cell_shape marginal_adhesion",
        "single_epithelial_cell_size bare_nuclei bland_chromatin normal_nucleoli mitoses",
    ),
    "wdbc": _combined(
        "mean se worst",
        "radius texture perimeter area smoothness compactness concavity concave_points symmetry "
        "fractal_dimension",
    ),
    "california_housing": _words(
        "longitude latitude housing_median_age total_rooms total_bedrooms population households",
        "median_income median_house_value",
    ),
    "abalone": _words(
        "length diameter height whole_weight shucked_weight viscera_weight shell_weight rings"
    ),
    "diamonds": _words("carat cut color clarity depth table price x y z"),
}

_DIGESTS = {
    "optdigits": "9a235f00134ed5d1ec467935650eddeef35d76af52f869278ce2df17950de390",
    "leaves_margin": "f37db82d8579260c886774863378f31200cbc8b5459720e6f064e143424132e0",
    "leaves_shape": "889c9ee45ed365dd637a9cff504d20b07aac62b67e99fb990ff260d89b3a3051",
    "leaves_texture": "495700dc40c3268de22a64e254e084371e5b666def2cc4e14a9bcdcd9a8a997a",
    "leaves_all": "935e1695d12f88f29fdfeb266d058c81d2c1215d3ab7b67a9b5fe7b6dd3f7492",
    "letter": "a67f5872647f7b7f34778968281fcf464eb47468ec05d341da1bb95faf0d2fa3",
    "pendigits": "e5a21d4b6109b1805150498e8a5d9cee2a9b8dfb3c0bf9b144ea49bb054903da",
    "robot_wall24": "be0829b29eb644e9202e294783c5427a5a8661fddcd9dd688059944d89e3be82",
    "waveform": "108319e15892741d730ca36c058d16ffdb7f06fb00ad00901195db69b9892f06",
    "ann_thyroid": "bd8ac344195c1e2186e6b7af7db5a02962869dfb2d45f92c23c5e8a2e4f6ef41",
    "satimage": "a20c5717b4a51889c595ba3eb27308a17bdb690ee608e1a580517c5c5821a7de",
    "segmentation": "5f4a0553415d04c50011eaaf7ff7adfc98713db38976d5d97b8abb74f5cf6c57",
    "waveform_noise": "e39b710a7155377c31fec9777ceae9cf80101426797f2ab3398af9df8aa85490",
    "wbc": "897883530eec2f4a954fc70e9803fbf380dc4d299d83a5330a45d4c838687125",
    "wdbc": "60c128e2cafc0954e3f34e22cdc2f53a69367a38b3a56365fbe3c1788d2d5dec",
    "communities": "39b3c16e8dfe4e21c93a21c2bd75f2d8d91eaaa331c2103330cf56d7ea275e05",
    "appliances_energy": "2ae3c1d70edb2cd604f15cc67b45ba71ac5e7ef12d3d98ac03ca9d1ad06b2875",
    "energy_efficiency": "988abc47ec0540cacf9f547585e6c1633e4aeb6a2fd0af45533546186a042b53",
    "california_housing": "682ed83749b0d6bfb10046a59227fab8de30001f444bf4b937f6e8d2b61b530d",
    "wine_quality": "011e72aa58e87c2a09792f5b7785ac475102f9e5f728fb845e4785228ddf77ac",
    "abalone": "65efcb064acd85a562f2c0878d8c2fe0f42e4a988678a683b0843c0131f31503",
    "penguins": "764be4f127540c66dc24d823bf2d4fe49d57adbe78f5a44f74d5c158427ceffd",
    "diamonds": "b4cfc91e6942229bcb18c1ec7f42f196eebc2a7b225e40a363e557f522768d5e",
    "gapminder": "62a7b718276888b50888e7572671692892cbd1e86a54f81f787be1b1d85afac3",
    "spellman_yeast": "829a444e12ccd88b063960818e567eec11667b04a8812305a45522308a8709c3",
}


def _dataset(
    name: str, rows: int, columns: int, classes: int, origin: str, **more: Any
) -> Dataset:
    names = _COLUMN_NAMES.get(name, ())
    return Dataset(name, rows, columns, classes, origin, _DIGESTS[name], names=names, **more)


# OpenML has other versions of some tables, with different cells: leaves_shape (1492) and wdbc
# (1510) are rounded to six decimals, segmentation (36) to six digits, satimage (182) is scaled,
# and ann_thyroid (40497) has only the training rows.
_LEAVES = "UCI One-hundred plant species leaves, doi:10.24432/C5RG76"
_ALL = (
    # clustering
    _dataset(
        "optdigits",
        5620,
        64,
        10,
        "UCI Optical Recognition of Handwritten Digits, doi:10.24432/C50P49",
        openml=28,
    ),
    _dataset("leaves_margin", 1600, 64, 100, _LEAVES, openml=1491),
    _dataset("leaves_shape", 1600, 64, 100, _LEAVES),
    _dataset("leaves_texture", 1599, 64, 100, _LEAVES, openml=1493),
    _dataset(
        "leaves_all",
        1584,
        192,
        99,
        "leaves_margin, leaves_shape and leaves_texture side by side, joined on species and "
        "position in it, without Acer Campestre",
    ),
    _dataset("letter", 20000, 16, 26, "UCI Letter Recognition, doi:10.24432/C5ZP40", openml=6),
    _dataset(
        "pendigits",
        10992,
        16,
        10,
        "UCI Pen-Based Recognition of Handwritten Digits, doi:10.24432/C5MG6K",
        openml=32,
    ),
    _dataset(
        "robot_wall24",
        5456,
        24,
        4,
        "UCI Wall-Following Robot Navigation Data, sensor_readings_24, doi:10.24432/C57C8W",
        openml=1497,
    ),
    _dataset(
        "waveform", 5000, 21, 3, "UCI Waveform Database Generator, version 1, doi:10.24432/C5CS3C"
    ),
    # outliers
    _dataset(
        "ann_thyroid",
        7200,
        21,
        3,
        "UCI Thyroid Disease, ann-train and ann-test, doi:10.24432/C5D010",
    ),
    _dataset(
        "satimage", 6435, 36, 6, "UCI Statlog (Landsat Satellite), doi:10.24432/C55887", openml=294
    ),
    _dataset("segmentation", 2310, 19, 7, "UCI Image Segmentation, doi:10.24432/C5GP4N"),
    _dataset(
        "waveform_noise",
        5000,
        40,
        3,
        "UCI Waveform Database Generator, version 2, doi:10.24432/C56014",
        openml=60,
    ),
    _dataset(
        "wbc", 699, 9, 2, "UCI Breast Cancer Wisconsin (Original), doi:10.24432/C5HP4Z", openml=15
    ),
    _dataset(
        "wdbc",
        569,
        30,
        2,
        "UCI Breast Cancer Wisconsin (Diagnostic), doi:10.24432/C5DW2B",
        bundled="load_breast_cancer",
    ),
    # examples
    _dataset("communities", 1994, 128, 0, "UCI Communities and Crime, doi:10.24432/C53W3X"),
    _dataset(
        "appliances_energy", 19735, 29, 0, "UCI Appliances Energy Prediction, doi:10.24432/C5VC8G"
    ),
    _dataset("energy_efficiency", 768, 10, 0, "UCI Energy Efficiency, doi:10.24432/C51307"),
    # further tables
    _dataset(
        "california_housing",
        20640,
        9,
        0,
        "StatLib cal_housing (Pace & Barry 1997)",
        openml=537,
        target=None,
    ),
    _dataset("wine_quality", 6497, 12, 2, "UCI Wine Quality, doi:10.24432/C56S3T"),
    _dataset("abalone", 4177, 8, 3, "UCI Abalone, doi:10.24432/C55C7W", openml=183, target="Sex"),
    _dataset(
        "penguins", 344, 7, 3, "the R package palmerpenguins, doi:10.1371/journal.pone.0090081"
    ),
    _dataset("diamonds", 53940, 10, 0, "the R package ggplot2", openml=42225, target=None),
    _dataset("gapminder", 1704, 5, 5, "the R package gapminder"),
    _dataset("spellman_yeast", 23, 4382, 0, "Spellman et al. 1998, as in the R package minerva"),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
