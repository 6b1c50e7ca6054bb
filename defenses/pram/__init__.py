"""Post-randomisation (PRAM): categories are released at random by transition matrices with known guarantees."""

from metrics.overview import attach_exports

__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
