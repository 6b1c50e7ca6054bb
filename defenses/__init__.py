"""Defenses turn records into a release; each states its privacy guarantee and its public channel."""

from metrics.overview import attach_exports

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
