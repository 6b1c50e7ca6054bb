"""Downcoding: finer values than published, since a minimal generalization is tight."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.attack import Attack, Knowledge, NotApplicable
from attacks.claims import ValueClaims
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease
from metrics.cells import CategoricalCells, NumericCells, read_cells
from metrics.classes import equivalence_classes
from metrics.domains import NumericDomain


class Downcoding(Attack):
    """Reads generalized cells as the tightest ones: their ends, and every category of a set, occur in the class.

    A publisher who generalizes no more than needed releases the smallest interval or set that covers a class. Then
    the interval's two ends are values of two of its rows, and each category of a set that of one. The values of a
    class of two are known that way, two thirds of those of a class of three, whatever k-anonymity promises; which
    of the rows, alike in all quasi-identifiers, has which does not matter. The rest of the rows get quantiles (numbers)
    or the most frequent values (categories) of the attacker's own people within the cell; nothing is known of ``*``.

    On `Mondrian` with k = 2 and one column of different numbers it recovers at least two thirds of all values. Where
    one level serves the whole column (`Incognito`, `GlobalRecoding`) cells are not tight, ends are seldom values of
    the class, and it may do worse than drawing from one's own people.

    References
    ----------
    Cohen (2022), Attacks on deidentification's defenses, section 3.
    """

    goal: ClassVar[str] = "downcoding"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim a value for every generalized cell of a quasi-identifier."""
        people = knowledge.auxiliary
        names = [name for name in people.quasi_identifiers if name in release.frame.columns]
        if not names:
            raise NotApplicable("the release has no quasi-identifier to refine")
        classes = equivalence_classes(release.frame, names)
        refined = {name: pd.Series(refine(release.frame[name], classes, people, name)) for name in names}
        return ValueClaims(pd.DataFrame(refined, index=range(len(release.frame))), np.ones(len(release.frame)))


def refine(column: pd.Series[Any], classes: NDArray[np.intp], people: Microdata, name: str) -> NDArray[Any]:
    """A value for each row whose cell is generalized, missing elsewhere; shape (rows,).

    Parameters
    ----------
    column : Series, shape (rows,)
        Released cells.
    classes : ndarray of int, shape (rows,)
        Rows that the release does not tell apart.
    people : Microdata
        The attacker's own.
    name : str
        The column.
    """
    domain = people.domains[name] if name in people.domains else people.domain(name)
    cells = read_cells(column, domain)
    numeric = isinstance(domain, NumericDomain)
    result: NDArray[Any] = np.full(len(column), np.nan) if numeric else np.full(len(column), None, dtype=object)
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes, minlength=1)
    place = np.empty(classes.size, dtype=np.intp)
    place[order] = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    own = people.frame[name].dropna()
    wide = ~cells.plain
    if isinstance(cells, NumericCells):
        known = np.sort(own.to_numpy(dtype=float))
        rows = np.flatnonzero(wide[cells.codes])
        low, high = (end[cells.codes[rows]] for end in cells.hull())
        # Row 0 of a class has the low end, row 1 the high one, the others evenly spaced quantiles in between.
        first, last = np.searchsorted(known, low, "left"), np.searchsorted(known, high, "right")
        step = (place[rows] - 1) / np.maximum(sizes[classes[rows]] - 1, 1)
        star = cells.suppressed[cells.codes[rows]]
        step = np.where(star, (place[rows] + 0.5) / sizes[classes[rows]], step)
        at = np.clip(first + np.floor(step * (last - first)).astype(np.intp), 0, max(known.size - 1, 0))
        inner = np.where(last > first, known[at] if known.size else np.nan, low)
        tight = np.where(place[rows] == 0, low, np.where(place[rows] == 1, high, inner))
        result[rows] = np.where(star, inner, tight)
    elif isinstance(cells, CategoricalCells):
        categories = np.array(cells.domain.categories, dtype=object)
        counts = np.bincount(cells.domain.codes(own), minlength=categories.size)[: categories.size]
        for cell in np.flatnonzero(wide).tolist():
            rows = np.flatnonzero(cells.codes == cell)
            members = np.flatnonzero(cells.member[cell])
            members = members[np.argsort(-counts[members], kind="stable")]
            if cells.suppressed[cell]:
                members = members[:1]
            # Each category once, the frequent ones first, then the most frequent again.
            chosen = np.where(
                place[rows] < members.size, members[np.minimum(place[rows], members.size - 1)], members[0]
            )
            result[rows] = categories[chosen]
    return result
