"""Games: what the attacker knows, what it claims, and how claims are scored."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
