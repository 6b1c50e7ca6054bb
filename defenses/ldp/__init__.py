"""Local differential privacy: each person randomizes a value before sending it, and the server estimates counts."""

import lazy_loader

from metrics.overview import attach_overview

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
attach_overview(__name__)
