"""Data sets: folders with records, roles, hierarchies and licence, or functions that generate or download them."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from defenses.base.microdata import Microdata
    from scenarios.tables.dataset import Dataset

FOLDER = Path(__file__).parent

MADE = {
    "city": "scenarios.datasets.generated_city:city",
    "movielens": "scenarios.datasets.movielens:movielens",
    "nhanes": "scenarios.datasets.nhanes:nhanes",
    "ratings": "scenarios.datasets.generated_ratings:ratings",
    "visits": "scenarios.datasets.generated_visits:visits",
}
"""Data sets without a folder: generated ones, and those of packages that are installed as extras; each is
``module:function``, and the function takes nothing and returns a `Dataset`."""


def dataset_names() -> tuple[str, ...]:
    """Names of the data sets, sorted; reads no data."""
    return tuple(sorted([*(path.parent.name for path in FOLDER.glob("*/roles.toml")), *MADE]))


def load(name: str) -> Dataset:
    """Load a data set.

    Each is read or made once a process. Every call returns frames of its own, so that whoever changes one changes no
    other; domains and hierarchies are shared and cannot be changed.

    Parameters
    ----------
    name : str
        One of `dataset_names`.

    Raises
    ------
    ValueError
        If there is no such data set (the nearest name is suggested), its files do not have the published sums, or the
        package that it comes from is not installed.

    Examples
    --------
    >>> from scenarios import load
    >>> bank = load("bank")
    >>> len(bank.records)
    45211
    >>> bank.records.frame["job"].nunique()
    12
    """
    known = dataset_names()
    if name not in known:
        near = get_close_matches(str(name), known, n=1)
        suggestion = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(known)}{suggestion}")
    dataset = _make(MADE[name]) if name in MADE else _load(FOLDER / name)
    test = None if dataset.test is None else _copy(dataset.test)
    return replace(dataset, records=_copy(dataset.records), test=test)


@lru_cache
def _load(folder: Path) -> Dataset:
    from scenarios.tables.dataset import load_table

    try:
        return load_table(folder / "records.csv.gz", folder / "roles.toml", name=folder.name)
    except ValueError as error:
        raise ValueError(f"the built-in data set {folder.name!r} is damaged, reinstall tokumei: {error}") from None


@lru_cache
def _make(source: str) -> Dataset:
    module, _, function = source.partition(":")
    dataset: Dataset = getattr(import_module(module), function)()
    return dataset


def _copy(records: Microdata) -> Microdata:
    return records.with_frame(records.frame.copy())
