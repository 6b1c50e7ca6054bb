"""Defenses: from records to a release, each with the guarantee that it promises and the channel that it is."""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
