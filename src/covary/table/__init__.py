"""Tables in: a file, a frame or an array becomes a `Table` of float columns."""

from covary.table.intake import read_table
from covary.table.labels import as_frame, kind_of_frame, label_matrix, labels_of, write_table
from covary.table.table import Column, Table
from covary.table.whole import whole_file

__all__ = [
    "Column",
    "Table",
    "as_frame",
    "kind_of_frame",
    "label_matrix",
    "labels_of",
    "read_table",
    "whole_file",
    "write_table",
]
