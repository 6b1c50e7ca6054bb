"""What a person should look at before a table is released: suggested roles, notes and doubts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
