"""Attacks turn a release and the attacker's knowledge into claims about people."""

from metrics.overview import attach_exports

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
