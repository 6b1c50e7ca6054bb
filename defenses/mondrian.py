"""Mondrian: k-anonymity by cutting the records into ever smaller boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.channel import Channel, Containment
from defenses.columns import check_columns, filled
from defenses.defense import MicrodataDefense, chosen_columns, released_frame, rowwise_release
from defenses.guarantee import Guarantee
from defenses.k_anonymous import check_enough_records, k_anonymity_over
from defenses.microdata import Microdata
from defenses.mondrian_columns import order_columns
from defenses.mondrian_splits import partition
from defenses.parameters import check_whole
from defenses.release import MicrodataRelease


class Mondrian(MicrodataDefense):
    """Multidimensional recoding: records are cut into classes of at least k that are released as intervals and sets.

    Parameters
    ----------
    k : int
        Smallest class, at least 1.
    strict : bool
        Whether records of equal value stay on one side of a cut. Relaxed, a cut may fall among them, and which of
        them go where is drawn at random; classes are smaller, and may overlap.
    columns : sequence of str, optional
        The columns to generalize; by default the quasi-identifiers.

    Raises
    ------
    ValueError
        If `k` is no whole number of at least 1; on `apply` and `guarantee`, if it exceeds the number of records or a
        column is unknown; on `apply`, if a column holds an infinity or a value that its domain or hierarchy lacks.

    Notes
    -----
    Split rule. The normalised certainty penalty of a class of n records in one column is n s, s the share of the
    domain that the class covers: the width of its interval by the domain's, u / d for u > 1 of d categories, 0 for a
    single value. Of all cuts between neighbouring values in all columns that leave at least k records on both sides,
    a class takes the one with the largest gain n s - (n_left s_left + n_right s_right), s in the column that is cut;
    it is a lower bound of the whole gain, since the sides can only narrow in the other columns. Every class is cut
    for as long as some cut is allowed. Relaxed, a cut may also leave exactly k records on one side.

    Order. Numbers are cut by value; categories in the order of their domain where that means something, so that
    groups of the declared hierarchy stay together where there is one, and the most frequent first otherwise (which
    soon releases them as they are).

    Cells. A class releases the interval from its smallest to its largest number, the set of its categories, or the
    single value. A missing value is a value of its own, before all others; where it meets others, the class releases
    ``*``. Rows keep their order, and other columns their values.

    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. Channel:
    containment in every column.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity; Xu, Wang, Pei, Wang, Shi and Fu
    (2006), Utility-based anonymization using local recoding, section 2 (the penalty).
    """

    def __init__(self, *, k: int = 5, strict: bool = True, columns: Sequence[str] | None = None) -> None:
        self.k = k
        self.strict = strict
        self.columns = columns
        check_whole("k", k, low=1)
        if not isinstance(strict, bool):
            raise ValueError(f"strict must be true or false, got {strict!r}")
        check_columns(columns)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release every class's records under the cells that cover them all."""
        columns = order_columns(records, filled(records, self._checked_columns(records)))
        order = np.arange(len(records)) if self.strict else rng.permutation(len(records))
        classes, class_count = partition(columns, order, self.k, strict=self.strict)
        frame = released_frame(records)
        for column in columns:
            frame[column.name] = column.cells(classes, class_count)
        return rowwise_release(frame, Channel(tuple(Containment(column.name, column.domain) for column in columns)))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise k-anonymity over the quasi-identifiers if all of them are generalized."""
        return k_anonymity_over(self.k, records, self._checked_columns(records))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        check_enough_records(self.k, records)
        return chosen_columns(records, self.columns, records.quasi_identifiers)
