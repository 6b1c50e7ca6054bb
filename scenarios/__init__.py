"""Scenarios: data sets, games, experiments, the runner and the command line."""

import sys

import lazy_loader

from metrics.overview import attach_overview
from scenarios.running.methods.former_modules import FormerModules

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
attach_overview(__name__)
sys.meta_path.append(FormerModules())
