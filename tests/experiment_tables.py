"""Small tables with the names and columns of the real ones, for tests of the experiments."""

from __future__ import annotations

import gzip

import numpy as np

from covary.reproduction.experiments.crime import CODES, EDUCATION, POLICE


def write_table(folder, name, columns):
    """Write a compressed file with these columns."""
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")


def write_example_tables(folder):
    """Write all tables of quick runs, with random numbers."""
    rng = np.random.default_rng(5)
    n = 150
    label = rng.integers(0, 3, n)
    wave = {f"x{at}": label * (at % 3) + rng.normal(size=n) for at in range(1, 22)}
    write_table(folder, "waveform", wave | {"label": label})
    write_table(folder, "wdbc", wave | {"label": label})
    level = rng.normal(size=n)
    names = [*EDUCATION, "PctEmploy", "PctUnemployed", *CODES, *POLICE[:2], "population"]
    crime = {name: (level + rng.normal(size=n)).round(2) for name in names}
    write_table(folder, "communities", crime)
    home = {f"T{at}": level + at * rng.normal(size=n) for at in range(1, 6)}
    write_table(folder, "appliances_energy", {"date": ["2016-01-11 17:00:00"] * n, **home})
    parts = {f"part_{at}": column for at, column in enumerate(home.values())}
    write_table(folder, "energy_efficiency", parts)
