"""The user's own tables: files, roles of columns, domains, and what a table risks."""
