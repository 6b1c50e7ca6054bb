"""User tables: files, roles and domains of columns, and the risk of a table."""
