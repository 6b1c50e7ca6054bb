"""Attacks turn a release and the attacker's knowledge into claims about people."""

import lazy_loader

from metrics.overview import attach_overview

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
attach_overview(__name__)
