"""Promises of a defense on tables: what a release shows of them, and what it cannot show."""

from __future__ import annotations

import re

import pandas as pd

from defenses.base.defense import Defense
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parametrized import Parametrized
from metrics.classes import k_anonymity
from metrics.columns.domains import CategoricalDomain
from metrics.diversity import (
    entropy_l_diversity,
    l_diversity,
    recursive_l_diversity,
    t_closeness_equal,
    t_closeness_ordered,
)
from scenarios.checks.conformance.findings import require
from scenarios.checks.conformance.trying import release_of
from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.invented_people import example, people
from scenarios.tables.seeds import generator

# A limit that is met exactly is not failed for a rounding error.
ROUNDING = 1e-9
UNTESTED = {"epsilon": "epsilon", "pk": "Pk"}
"""Parts of a guarantee that a few releases cannot show, as they are written."""

_RECURSIVE = re.compile(r"recursive \(([0-9.eE+-]+), *[0-9.]+\)")


def check_promises(method: type[Defense]) -> None:
    """Measure the k, l and t that a defense promises on releases of 20 tables.

    Raises
    ------
    AssertionError
        If a release has a smaller k or l, or a larger t, than is promised.
    """
    for number in range(20):
        records = people(30 + 5 * number, generator(number, "promise"), missing=number % 3 == 0)
        promised = example(method).guarantee(records)
        frame = release_of(method, records, "promise", number).frame
        check_promise(promised, records, frame, defined_at(method.guarantee))


def check_promise(promised: Guarantee, records: Microdata, frame: pd.DataFrame, place: str = "") -> None:
    """Measure the k, l and t that a guarantee promises on one release.

    The statement of the guarantee names the form, as the built-in defenses write it. For l this is "entropy" or
    "recursive (c, l)", and otherwise the number of distinct values. For t it is "ordered", and otherwise equal
    distances.

    Parameters
    ----------
    promised : Guarantee
        The promise.
    records : Microdata
        The original records, for the columns' roles and domains.
    frame : DataFrame
        The released table.
    place : str
        Where the promise is made, which messages end with.

    Raises
    ------
    AssertionError
        If the release has a smaller k or l, or a larger t, than is promised.
    """
    if promised.k is not None:
        k = k_anonymity(frame, records.quasi_identifiers)
        require(k >= promised.k, f"k = {promised.k} is guaranteed and {k} measured{place}")
    for name in records.sensitive:
        if promised.l is not None:
            diversity, form = _diversity(promised.statement, records, frame, name)
            right = f"l = {promised.l:g} is guaranteed and {diversity:.4g} measured in {name!r} ({form})"
            require(diversity >= promised.l - ROUNDING, f"{right}{place}")
        if promised.t is not None:
            closeness, form = _closeness(promised.statement, records, frame, name)
            right = f"t = {promised.t:g} is guaranteed and {closeness:.4g} measured in {name!r} ({form})"
            require(closeness <= promised.t + ROUNDING, f"{right}{place}")


def untested_promises(method: type[Parametrized]) -> list[str]:
    """Parts of a defense's guarantee that its conformance checks do not test: epsilon and Pk."""
    if not issubclass(method, Defense):
        return []
    try:
        promised = example(method).guarantee(people(60, generator(0, "people")))
        return [shown for part, shown in UNTESTED.items() if getattr(promised, part) is not None]
    except Exception:  # a method under test may raise anything, which its checks report
        return []


def _diversity(statement: str, records: Microdata, frame: pd.DataFrame, name: str) -> tuple[float, str]:
    """The l of a released column in the form that the statement names, and that form."""
    names = records.quasi_identifiers
    if "entropy" in statement:
        return entropy_l_diversity(frame, names, name), "entropy"
    if "recursive" in statement:
        found = _RECURSIVE.search(statement)
        if found is None:
            right = "the statement of recursive diversity must name c, as 'recursive (2, 3)-diversity' does"
            raise AssertionError(f"{right}; got {statement!r}")
        return recursive_l_diversity(frame, names, name, float(found[1])), f"recursive, c = {found[1]}"
    return l_diversity(frame, names, name), "distinct"


def _closeness(statement: str, records: Microdata, frame: pd.DataFrame, name: str) -> tuple[float, str]:
    """The t of a released column with the distances that the statement names, and these."""
    if "ordered" not in statement:
        return t_closeness_equal(frame, records.quasi_identifiers, name), "equal distances"
    domain = records.domain(name)
    order = domain.categories if isinstance(domain, CategoricalDomain) else None
    return t_closeness_ordered(frame, records.quasi_identifiers, name, order=order), "ordered distances"
