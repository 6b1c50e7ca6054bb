"""Central differential privacy: mechanisms on numbers and scores, sensitivities, composition and privacy accounts."""

import lazy_loader

from metrics.overview import attach_overview

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
attach_overview(__name__)
