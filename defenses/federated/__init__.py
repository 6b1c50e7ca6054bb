"""Federated learning: models trained where the records are, noise up and down, and sums that nobody sees into."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
