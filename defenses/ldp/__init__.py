"""Local differential privacy: each person randomizes a value before sending it, and the server estimates counts."""

from metrics.overview import attach_exports

__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
