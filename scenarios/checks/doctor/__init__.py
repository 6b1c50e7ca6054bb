"""Checks of an installation: packages, worker processes, the database, and a short self-test."""
