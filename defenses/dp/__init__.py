"""Central differential privacy: mechanisms on numbers and scores, sensitivities, composition and privacy accounts."""

from metrics.overview import attach_exports

__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
