"""Grouping: k-anonymity and related models, which release records in classes of at least k."""
