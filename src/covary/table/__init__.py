"""Read a file, a frame or an array as a `Table` of float columns, and write tables."""

from covary.table.atomic import atomic_file
from covary.table.output import as_frame, kind_of_frame, label_matrix, labels_of, write_table
from covary.table.read import as_list, read_table
from covary.table.table import Column, Table

__all__ = [
    "Column",
    "Table",
    "as_frame",
    "as_list",
    "atomic_file",
    "kind_of_frame",
    "label_matrix",
    "labels_of",
    "read_table",
    "write_table",
]
