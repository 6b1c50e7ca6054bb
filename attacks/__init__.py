"""Attacks: from a release and what the attacker knows to claims about the people behind it."""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
