"""The methods that every experiment compares, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covary.measures import Measure

# covary's own estimator comes first.
METHODS = (
    "uds-chance",
    "uds",
    "uds-unregularized",
    "cmi",
    "mac",
    "hics",
    "mcde",
    "total-correlation",
)
# Parameters that differ from the defaults. Without scaling, `cmi` depends on the units.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {"cmi": {"scale": "range"}}
METHODS_NOTE = (
    "Methods: `uds-chance` is covary's own estimator of UDS. `uds` is the estimator of the paper "
    "(beta 20), and `uds-unregularized` is the same estimator without the selection of the number "
    "of bins. `cmi`, `mac` and `hics` are the baselines of the paper; `mcde` and "
    "`total-correlation` are two more baselines. All methods use covary's default parameters on "
    "all tables, with one exception: `cmi` receives columns scaled to [0, 1], because it depends "
    "on the units otherwise. The paper sets the parameters of its baselines according to their "
    "original papers. (`mac` uses beta 20. `hics` and `mcde` draw 50 slices, with a tenth and a "
    "half of the rows. `total-correlation` uses 5 bins.) `covary measures` describes all methods."
)


def configured_measure(method: str, seed: int = 0) -> Measure:
    """Return the measure of a method with the parameters of the experiments.

    Examples
    --------
    >>> configured_measure("cmi")
    CMI(scale='range')

    """
    from covary.measures import find_seeded

    return find_seeded(method, seed, **PARAMETERS.get(method, {}))
