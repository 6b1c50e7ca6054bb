"""Numbers about tables, arrays and counts, and the grammar of released cells; imports nothing of the project."""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
