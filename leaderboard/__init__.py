"""Leaderboard: the store of results, the ranking of defenses, tables and HTML pages."""

from metrics.overview import attach_exports

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
