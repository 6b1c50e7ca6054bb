"""Methods by name, and the code of a method as part of a trial's key."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
