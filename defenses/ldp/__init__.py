"""Local differential privacy: each person randomizes before sending, and counts are estimated from the reports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
