"""Post-randomisation (PRAM): categories are released at random by transition matrices with known guarantees."""

import lazy_loader

from metrics.overview import attach_overview

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
attach_overview(__name__)
