"""Post-randomisation (PRAM): categories are released at random by transition matrices with known guarantees."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
