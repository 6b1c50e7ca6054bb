"""Curators that answer queries about the records."""
