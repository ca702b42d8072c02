"""The run file keeps every score of a search, so that the search can be resumed."""

from covary.runs.comparison import RunDescription
from covary.runs.file import RunFile

__all__ = ["RunDescription", "RunFile"]
