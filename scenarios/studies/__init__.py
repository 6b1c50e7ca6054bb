"""Experiments: scenarios that report in tables and pictures instead of a board."""
