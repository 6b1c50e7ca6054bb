"""One reading of bytes and cells: CSV texts, encodings, numbers, dates, and the written form of cells."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
