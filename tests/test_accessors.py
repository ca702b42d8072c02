"""`df.covary` of pandas and polars, whichever is imported first."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import covary

USE = """
import numpy as np
x = np.linspace(-1, 1, 200)
data = {"x": x, "y": x**2}
print(pandas.DataFrame(data).covary.score() == polars.DataFrame(data).covary.score() > 0.9)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import covary, pandas, polars",
        "import pandas, polars, covary",
        "import pandas, covary, polars",
        "import covary; from pandas import DataFrame; import pandas, polars",
    ],
)
def test_frames_have_the_functions_in_any_order_of_imports(imports):
    result = subprocess.run(
        [sys.executable, "-c", f"{imports}\n{USE}"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "True"


def test_importing_covary_imports_no_frame_library():
    code = "import covary, sys; print('pandas' in sys.modules, 'polars' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["False", "False"]


def test_the_methods_are_the_functions():
    x = np.random.default_rng(0).normal(size=200)
    frame = pd.DataFrame({"x": x, "y": x**2})
    assert frame.covary.overview().to_json() == covary.overview(frame).to_json()
    assert frame.covary.search(max_size=2)[0].columns == ("x", "y")
    assert pl.from_pandas(frame).covary.explain(target="y", columns=["x"]).target == "y"
    assert "overview" in dir(frame.covary)
    with pytest.raises(AttributeError, match="it has evidence, explain"):
        frame.covary.plot()
