"""The built-in data sets: a folder each, with the records, their roles, hierarchies and licence."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from defenses.microdata import Microdata
    from scenarios.tables import Dataset

FOLDER = Path(__file__).parent


def dataset_names() -> tuple[str, ...]:
    """Names of the built-in data sets, sorted; reads no data."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/roles.toml")))


def load(name: str) -> Dataset:
    """Load a built-in data set.

    The files are read once a process. Every call returns frames of its own, so that whoever changes one changes no
    other; domains and hierarchies are shared and cannot be changed.

    Parameters
    ----------
    name : str
        One of `dataset_names`.

    Raises
    ------
    ValueError
        If there is no such data set (the nearest name is suggested), or its files do not have the published sums.
    """
    known = dataset_names()
    if name not in known:
        near = get_close_matches(str(name), known, n=1)
        suggestion = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(known)}{suggestion}")
    dataset = _load(FOLDER / name)
    test = None if dataset.test is None else _copy(dataset.test)
    return replace(dataset, records=_copy(dataset.records), test=test)


@lru_cache
def _load(folder: Path) -> Dataset:
    from scenarios.tables import load_table

    try:
        return load_table(folder / "records.csv.gz", folder / "roles.toml", name=folder.name)
    except ValueError as error:
        raise ValueError(f"the built-in data set {folder.name!r} is damaged, reinstall tokumei: {error}") from None


def _copy(records: Microdata) -> Microdata:
    return records.with_frame(records.frame.copy())
