"""Metrics: anonymity, risk, utility and success rates; domains of columns and the grammar of released cells."""

from metrics.overview import attach_exports

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
