"""The overview of a table: links between columns, groups, copies and identities."""
