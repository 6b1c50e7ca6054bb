"""Synthetic tables drawn from a model of the records."""
