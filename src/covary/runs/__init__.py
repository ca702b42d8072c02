"""The run file keeps every result of a search or an overview, so that it can be resumed."""

from covary.runs.comparison import OVERVIEW, SEARCH, RunDescription
from covary.runs.file import RunFile
from covary.runs.tasks import Codec, StoredTasks

__all__ = ["OVERVIEW", "SEARCH", "Codec", "RunDescription", "RunFile", "StoredTasks"]
