"""The rules of a tournament: its folder, what a team may submit, and how it is scored."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
