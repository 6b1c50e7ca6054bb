"""Grouping: classes of records that look alike, as k-anonymity asks for."""
