from pathlib import Path

import covary
from covary.measures import all_measures
from covary.searching.strategies import all_strategies

project = "covary"
author = "the covary developers"
copyright = "2026, the covary developers"
version = release = covary.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build"]
templates_path = []
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_title = "covary"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False}
html_show_sourcelink = False
nitpicky = False


def list_registered() -> str:
    """Return a page that lists the classes of all measures and strategies."""
    lines = ["Measures and strategies", "=======================", "", ".. currentmodule:: covary"]
    for title, entries in (("Measures", all_measures()), ("Strategies", all_strategies())):
        lines += [
            "",
            title,
            "-" * len(title),
            "",
            ".. autosummary::",
            "   :toctree: generated",
            "",
        ]
        lines += sorted({f"   {entry.cls.__name__}" for entry in entries.values()})
    return "\n".join([*lines, ""])


registered = Path(__file__).parent / "api" / "registered.rst"
registered.parent.mkdir(exist_ok=True)
registered.write_text(list_registered())
