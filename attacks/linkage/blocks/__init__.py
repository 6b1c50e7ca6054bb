"""Linkage of large files: rows are compared within blocks only."""
