"""Read a file, a frame or an array as a `Table` of float columns, and write tables."""

from covary.table.atomic import atomic_file
from covary.table.options import Declared, TableOptions, declare, undeclared
from covary.table.output import as_frame, kind_of_frame, label_matrix, labels_of, write_table
from covary.table.read import as_list, read_table
from covary.table.table import Column, Table

__all__ = [
    "Column",
    "Declared",
    "Table",
    "TableOptions",
    "as_frame",
    "as_list",
    "atomic_file",
    "declare",
    "kind_of_frame",
    "label_matrix",
    "labels_of",
    "read_table",
    "undeclared",
    "write_table",
]
