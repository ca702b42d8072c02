"""The measure `uds`: the estimator of Nguyen, Mandros and Vreeken (2016)."""

from covary.measures.uds.uds import UDS

__all__ = ["UDS"]
