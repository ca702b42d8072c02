"""The run file keeps every result of a search or an overview, so that it can be resumed."""

from covary.runs.comparison import OVERVIEW, SEARCH, RunDescription
from covary.runs.file import READABLE_VERSIONS, RunFile
from covary.runs.tasks import Codec, StoredTasks

__all__ = [
    "OVERVIEW",
    "READABLE_VERSIONS",
    "SEARCH",
    "Codec",
    "RunDescription",
    "RunFile",
    "StoredTasks",
]
