"""The examples in docstrings run and show what they say."""

import doctest
import importlib

import pytest

from metrics.overview import ROOT
from scenarios.running.methods.fingerprint import PACKAGES

PATHS = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in PATHS
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    failed, tried = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried
    assert not failed
