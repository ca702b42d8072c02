"""Real tables of the experiments, from a folder, a local cache or OpenML."""

from covary.reproduction.datasets.catalogue import DATASETS, Dataset
from covary.reproduction.datasets.digest import content_digest
from covary.reproduction.datasets.loading import Loaded, load, missing

__all__ = ["DATASETS", "Dataset", "Loaded", "content_digest", "load", "missing"]
