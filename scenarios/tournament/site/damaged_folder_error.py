"""Damage of a tournament's folder that the site notices."""

from __future__ import annotations


class DamagedFolderError(Exception):
    """Settings or log cannot be read or contradict each other; the message, for the host, says which file."""
