"""Retention-replacement (generalized randomized response)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.random import Generator

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    RecordsInBlocks,
    ReleasePlan,
    Retention,
    category_count,
    check_columns,
    chosen_columns,
    public_or_filled,
)
from defenses.pram.matrix import (
    check_epsilon,
    epsilon_for_retention,
    given_epsilon,
    k_for_epsilon,
    public_tables,
    retention_for_epsilon,
    unless_public,
)
from defenses.pram.randomized import Categories, randomized
from metrics.columns import check_real, require


class RetentionReplacement(BlockwiseDefense):
    """Retention-replacement PRAM: keep a value with probability p, otherwise draw another one uniformly.

    The categories of a column are those of its domain, or the public bins of numbers; a number is released as a bin.
    Missing values form a further category of columns that have any. With d categories p is at least 1/d: a smaller
    retention is raised to 1/d, at which a released value carries no information. Records and columns are randomized
    independently.

    Parameters
    ----------
    retention : float, optional
        Probability p in [0, 1], the same for all columns.
    epsilon : float, optional
        Epsilon of all columns of a record together, positive; it is split evenly over the columns.
    k : float, optional
        Pk-anonymity of the columns together, from 1 to the number of records. Give exactly one of the three.
    columns : sequence of str, optional
        All quasi-identifiers where not given.

    Raises
    ------
    ValueError
        If not exactly one of `retention`, `epsilon` and `k` is given, or it is out of range.

    Examples
    --------
    With four categories, e^epsilon = 0.7 * 3 / 0.3 = 7.

    >>> import pandas as pd
    >>> from defenses import Microdata
    >>> from metrics import CategoricalDomain
    >>> grades = CategoricalDomain(("A", "B", "C", "D"))
    >>> frame = pd.DataFrame({"grade": ["A", "B", "B", "D", "C"]})
    >>> records = Microdata(frame, quasi_identifiers=("grade",), domains={"grade": grades})
    >>> guarantee = RetentionReplacement(retention=0.7).guarantee(records)
    >>> round(guarantee.epsilon, 3), round(guarantee.pk, 3)
    (1.946, 1.082)

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types; that no value of a randomized column is missing (otherwise nothing holds). Protected: the values of the
    randomized columns. Columns that are not randomized are released as they are, without guarantee.

    The decision to keep a value compares a multiple of 2^-53 with p. That is exact for p >= 1/2, and otherwise rounds p
    up by less than 2^-53. So epsilon exceeds the stated one by at most (d + 2) 2^-53 in each column, and by the
    rounding of p and epsilon themselves.

    In one column, the probabilities of a released value under two originals have a ratio of at most e^epsilon =
    p (d - 1) / (1 - p), which is attained. Columns are independent, so their epsilons add up. For two records a, b and
    two releases x, y, the smallest P(y|a) P(x|b) / (P(x|a) P(y|b)) is e^(-2 epsilon), at x = a and y = b. The columns
    together are therefore Pk-anonymous with k = 1 + (n - 1) e^(-2 epsilon) exactly.

    Sources: Agrawal, Srikant and Thomas (2005), "Privacy preserving OLAP", retention replacement; Ikarashi et al.
    (2015), Pk-anonymity; Warner (1965) for two categories.
    """

    called = ("Retention-replacement PRAM", "PRAM", "Post-randomization method")

    randomizes_records_independently = True

    def __init__(
        self,
        *,
        retention: float | None = None,
        epsilon: float | None = None,
        k: float | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        require(
            sum(given is not None for given in (retention, epsilon, k)) == 1,
            "give exactly one of retention, epsilon and k",
        )
        self.retention = check_real("retention", retention, low=0, high=1, optional=True)
        if epsilon is not None:
            check_epsilon(epsilon)
        self.k = check_real("k", k, low=1, optional=True)
        self.columns = check_columns(columns)
        self.epsilon = epsilon

    @classmethod
    def example(cls) -> Self:
        """Retention probability 0.7."""
        return cls(retention=0.7)

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """The retention of each column."""
        parts = self._parts(records.counted)
        steps = [
            randomized([Categories.of(records, part.column)], np.full(part.categories, part.retention))
            for part in parts
        ]
        return ReleasePlan(steps, Channel(parts))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and Pk of the randomized columns, computed from the probabilities in use."""
        parts = self._parts(records)
        names = [part.column for part in parts]
        epsilon = sum(epsilon_for_retention(part.retention, part.categories) for part in parts)
        pk = k_for_epsilon(epsilon, len(records)) if epsilon > 0 else float(len(records))
        about = (
            f"of the columns {', '.join(names)} together, {public_tables(names)}; other columns are released as they "
            "are"
        )
        private = Guarantee(epsilon=epsilon, pk=pk, statement=f"local, one record replaced by any other, {about}")
        return unless_public(records, names) or (Guarantee(pk=pk, statement=about) if np.isinf(epsilon) else private)

    def _parts(self, records: Microdata) -> tuple[Retention, ...]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        budget = given_epsilon(self.epsilon, self.k, len(records)) / max(1, len(names))
        parts = []
        for name in names:
            domain = records.domain(name)
            count = category_count(records, name)
            if self.retention is not None:
                retention = max(float(self.retention), 1 / count)
            else:
                retention = retention_for_epsilon(budget, count) if budget > 0 else 1 / count
            parts.append(Retention(name, domain, retention if count > 1 else 1.0, count))
        return tuple(parts)
