"""Scenarios: data sets, games, experiments, the runner and the command line."""

import sys

from metrics.overview import attach_exports
from scenarios.running.methods.former_modules import FormerModules

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = attach_exports(__name__, __file__)
sys.meta_path.append(FormerModules())
