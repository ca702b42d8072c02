import covary

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
# The pages load nothing from anywhere else but the formulas' typesetter.
nitpicky = False
