"""Worker processes, on this machine or a cluster, with limits of time and memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
