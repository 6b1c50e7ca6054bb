"""Mondrian: k-anonymity by cutting the records into ever smaller boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.channel_parts import Containment
from defenses.base.columns import code_column, filled
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous import k_anonymity_over
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from defenses.grouping.constrained import ConstrainedDefense
from defenses.grouping.constraints import check_apart, check_whole_table, sensitive_columns
from defenses.grouping.microaggregation.representatives import (
    check_representative,
    grouped_column,
    release_representatives,
)
from defenses.grouping.mondrian.columns import order_column
from defenses.grouping.mondrian.sides import SideDemand
from defenses.grouping.mondrian.splits import partition


class Mondrian(ConstrainedDefense):
    """Multidimensional recoding: records are cut into classes of at least k that are released as intervals and sets.

    Parameters
    ----------
    k : int
        Smallest class, at least 1.
    strict : bool
        Whether records of equal value stay on one side of a cut. Relaxed, a cut may fall among them, and which of
        them go where is drawn at random; classes are smaller, and may overlap.
    l : float, optional
        l-diversity of every sensitive column: an integer, or any number for entropy.
    diversity : {"distinct", "entropy", "recursive"}
        Form of l-diversity.
    c : float, optional
        The factor of recursive (c, l)-diversity, above 0.
    t : float, optional
        t-closeness of every sensitive column to the whole table, in [0, 1].
    distance : {"equal", "ordered"}
        Distance of two sensitive values under t-closeness: 1, or by their ranks (of numbers, or of the categories of
        an ordered domain).
    alpha : float, optional
        Largest share of one sensitive value in a class, in (0, 1]: (alpha, k)-anonymity.
    columns : sequence of str, optional
        The columns to generalize; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}, optional
        Release what stands for a class in the place of what covers it; see `Microaggregation`.

    Raises
    ------
    ValueError
        If a parameter is out of range or unknown; on `apply` and `guarantee`, if `k` exceeds the number of records or
        `l` that of the sensitive values, all records together fail a constraint, or a column is unknown; on `apply`,
        if a column holds an infinity or a value that its domain or hierarchy lacks.

    Notes
    -----
    Split rule. The normalised certainty penalty of a class of n records in one column is n s, s the share of the
    domain that the class covers: the width of its interval by the domain's, u / d for u > 1 of d categories, 0 for a
    single value. Of all cuts between neighbouring values in all columns that leave at least k records on both sides,
    a class takes the one with the largest gain n s - (n_left s_left + n_right s_right), s in the column that is cut;
    it is a lower bound of the whole gain, since the sides can only narrow in the other columns. Every class is cut
    for as long as some cut is allowed. Relaxed, a cut may also leave exactly k records on one side. Under constraints
    a cut must also leave sides that meet them.

    Order. Numbers are cut by value; categories in the order of their domain where that means something, so that
    groups of the declared hierarchy stay together where there is one, and the most frequent first otherwise (which
    soon releases them as they are).

    Cells. A class releases the interval from its smallest to its largest number, the set of its categories, or the
    single value; or else its `representative`. A missing value is a value of its own, before all others; where it
    meets others, the class releases ``*``. Rows keep their order, and other columns their values.

    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them, with the
    constraints; classes that happen to be released alike only merge, which no constraint minds. Channel: containment
    in every column, or that of the representatives.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity; Xu, Wang, Pei, Wang, Shi and Fu
    (2006), Utility-based anonymization using local recoding, section 2 (the penalty).
    """

    def __init__(
        self,
        *,
        k: int = 5,
        strict: bool = True,
        l: float | None = None,  # noqa: E741 (the field's own name for it)
        diversity: str = "distinct",
        c: float | None = None,
        t: float | None = None,
        distance: str = "equal",
        alpha: float | None = None,
        columns: Sequence[str] | None = None,
        representative: str | None = None,
    ) -> None:
        super().__init__(k=k, l=l, diversity=diversity, c=c, t=t, distance=distance, alpha=alpha, columns=columns)
        if not isinstance(strict, bool):
            raise ValueError(f"strict must be true or false, got {strict!r}")
        if representative is not None:
            check_representative(representative)
        self.strict = strict
        self.representative = representative

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release every class's records under the cells that cover them all."""
        names, demand = self._checked(records)
        domains = {name: records.domain(name) for name in filled(records, names)}
        coded = {name: code_column(records.frame[name], domain) for name, domain in domains.items()}
        columns = [order_column(name, domains[name], coded[name], records.hierarchies.get(name)) for name in domains]
        order = np.arange(len(records)) if self.strict else rng.permutation(len(records))
        classes, class_count = partition(columns, order, self.k, strict=self.strict, demand=demand)
        if self.representative is not None:
            replaced = [grouped_column(records.frame[name], domains[name], coded[name]) for name in domains]
            return release_representatives(records, replaced, classes, self.representative)
        frame = released_frame(records, {column.name: column.cells(classes, class_count) for column in columns})
        return rowwise_release(frame, Channel(tuple(Containment(column.name, column.domain) for column in columns)))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise k-anonymity and the constraints if all quasi-identifiers are generalized."""
        names, demand = self._checked(records)
        return k_anonymity_over(self.k, records, names, demand.constraints)

    def _checked(self, records: Microdata) -> tuple[tuple[str, ...], SideDemand]:
        names = self._checked_columns(records)
        demand = SideDemand(self._constraints(), sensitive_columns(records, self._constraints()))
        check_apart(names, demand.columns)
        check_whole_table(demand.constraints, demand.columns)
        return names, demand
