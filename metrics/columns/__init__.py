"""Columns of tables: cells, domains, categories and values."""
