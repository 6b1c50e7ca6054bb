"""Post-randomisation (PRAM): released categories are drawn from transition matrices, and what those guarantee."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
