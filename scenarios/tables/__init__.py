"""User tables: files, roles and domains of columns, and the risk of a table."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
