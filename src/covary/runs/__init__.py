"""The run file: all that a search has done so far, and what it takes to go on."""

from covary.runs.file import Description, RunFile

__all__ = ["Description", "RunFile"]
