"""The real tables of the experiments: from a folder, a local cache or OpenML."""

from covary.datasets.content import content_digest
from covary.datasets.known import DATASETS, Dataset
from covary.datasets.loading import Loaded, load, missing

__all__ = ["DATASETS", "Dataset", "Loaded", "content_digest", "load", "missing"]
