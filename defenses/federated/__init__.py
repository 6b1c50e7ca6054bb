"""Federated learning: averaging, noise on updates and models, secure aggregation."""

from metrics.overview import attach_exports

__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
