"""l-diversity, t-closeness and alpha-anonymity of a sensitive column.

Every measure is the worst one over all equivalence classes and concerns one sensitive column. A missing value is a
value of its own. The parameter `classes` passes on the result of `equivalence_classes`, so that it is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from metrics.classes import class_sizes, count_pairs, given_or_computed_classes, group_starts, require_columns
from metrics.columns import Floats, Integers, refuse, refuse_rows, require

# Diversity of a sensitive column over equivalence classes that are counted in parts.


@dataclass(frozen=True)
class ClassDiversity:
    """Worst values of l, alpha and t over some classes, which are measured together.

    - distinct: Distinct l-diversity; see `metrics.l_diversity`.
    - entropy: Least entropy of a class in nats, whose exponential is `metrics.entropy_l_diversity`.
    - alpha: Largest share of a value in a class; see `metrics.alpha_anonymity`.
    - t_equal: Largest distance of a class from the table; see `metrics.t_closeness_equal`.
    - one_value: Number of records in classes that hold one value; classes of one record count.

    Examples
    --------
    Two classes: one with the values 0, 0, 1, and one with the value 1.

    >>> table = np.array([0.5, 0.5])
    >>> first = ClassDiversity.of_pairs(np.array([0, 0]), np.array([0, 1]), np.array([2, 1]), table)
    >>> other = ClassDiversity.of_pairs(np.array([0]), np.array([1]), np.array([1]), table)
    >>> worst = first.worst(other)
    >>> worst.distinct, worst.alpha, worst.t_equal, worst.one_value
    (1, 1.0, 0.5, 1)
    """

    distinct: int
    entropy: float
    alpha: float
    t_equal: float
    one_value: int

    @classmethod
    def of_pairs(cls, groups: Integers, values: Integers, counts: Integers, table: Floats) -> Self:
        """Measure classes by the pairs of a class and a value that occur.

        - groups, shape (pairs,): Class of each pair, ascending, from 0 without a gap.
        - values, counts, shape (pairs,): Value of each pair, and its number of records.
        - table, shape (values,): Share of each value in the whole table.

        The formulas are those of `metrics.diversity`, where their sources are.
        """
        starts = group_starts(groups)
        sizes = np.add.reduceat(counts, starts)
        present = np.diff(np.append(starts, groups.size))
        shares = counts / sizes[groups]
        entropy = np.bincount(groups, weights=-shares * np.log(shares))
        excess = np.bincount(groups, weights=np.maximum(shares - table[values], 0))
        return cls(
            int(present.min()),
            float(entropy.min()),
            float(shares.max()),
            float(excess.max()),
            int(sizes[present == 1].sum()),
        )

    def worst(self, other: ClassDiversity) -> ClassDiversity:
        """Measures of the classes of both."""
        return ClassDiversity(
            min(self.distinct, other.distinct),
            min(self.entropy, other.entropy),
            max(self.alpha, other.alpha),
            max(self.t_equal, other.t_equal),
            self.one_value + other.one_value,
        )


def l_diversity(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> int:
    """Distinct l-diversity: the smallest number of different sensitive values in a class.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    sensitive : str
        The column to protect.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row, lacks a column, or the sensitive column is a quasi-identifier.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), l-diversity, section 4.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import l_diversity
    >>> frame = pd.DataFrame({"age": ["[20,29]"] * 3 + ["[30,39]"] * 2, "disease": list("abaab")})
    >>> l_diversity(frame, ["age"], "disease")
    2
    """
    return sensitive_counts(frame, quasi_identifiers, sensitive, classes).diversity.distinct


def entropy_l_diversity(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Entropy l-diversity: the largest l with an entropy of at least log l in every class.

    This is exp(H) of the class with the least entropy H = -sum p log p, between 1 and the number of sensitive values.
    Parameters, errors and source are those of `l_diversity`.
    """
    return float(np.exp(sensitive_counts(frame, quasi_identifiers, sensitive, classes).diversity.entropy))


def recursive_l_diversity(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    c: float,
    *,
    classes: Integers | None = None,
) -> int:
    """Recursive (c, l)-diversity: the largest l with r_1 < c (r_l + r_(l+1) + … + r_m) in every class.

    Here r_1 >= r_2 >= … >= r_m are the counts of the sensitive values in a class. The result is 0 if l = 1 does not
    hold. Parameters, errors and source are those of `l_diversity`.

    Parameters
    ----------
    c : float
        The factor, finite and above 0.
    """
    refuse(not np.isfinite(c) or c <= 0, f"c must be a finite number above 0, got {c!r}")
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    ranked = counts.counts[np.lexsort((-counts.counts, counts.groups))]
    before = np.cumsum(ranked) - ranked
    tail = counts.sizes[counts.groups] - (before - before[counts.starts][counts.groups])
    holds = ranked[counts.starts][counts.groups] < c * tail
    return int(np.bincount(counts.groups, weights=holds).min())


def alpha_anonymity(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Alpha of (alpha, k)-anonymity: the largest share of one sensitive value in a class.

    Parameters and errors are those of `l_diversity`.

    References
    ----------
    Wong, Li, Fu and Wang (2006), (alpha, k)-anonymity.
    """
    return sensitive_counts(frame, quasi_identifiers, sensitive, classes).diversity.alpha


def t_closeness_equal(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """t-closeness with equal distances between all sensitive values.

    Parameters and errors are those of `l_diversity`.

    Notes
    -----
    Let p be the shares of the values in a class and q those in the table. With ground distance 1 between any two
    values, the earth mover's distance is the total variation distance sum |p - q| / 2 = sum max(p - q, 0). Only values
    that occur in the class contribute to the second sum.

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 5.2.
    """
    return sensitive_counts(frame, quasi_identifiers, sensitive, classes).diversity.t_equal


def t_closeness_ordered(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    *,
    order: Sequence[Any] | None = None,
    classes: Integers | None = None,
) -> float:
    """t-closeness with ordered sensitive values, whose distance is the difference of their ranks.

    Parameters and errors are those of `l_diversity`.

    Parameters
    ----------
    order : sequence, optional
        All sensitive values, from first to last; by default the values that occur, in their natural order.

    Raises
    ------
    ValueError
        If a value is missing, `order` lacks one or repeats one.

    Notes
    -----
    With ground distance |i - j| / (m - 1) between the ranks of m values, the earth mover's distance is sum_i |P_i -
    Q_i| / (m - 1), where P and Q are the cumulative shares in the class and in the table. P is constant from one value
    of the class to the next. On such a run [v, w), the ascending Q crosses P once, at x. Below x the sum is
    P (x - v) - (Q_v + … + Q_(x-1)), and from x on it is (Q_x + … + Q_(w-1)) - P (w - x). Prefix sums of Q give both.

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 5.1.
    """
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes, _ranks(frame, sensitive, order))
    m = counts.table.size
    if m == 1:
        return 0.0
    cumulative = np.cumsum(counts.table)
    prefix = np.concatenate([[0.0], np.cumsum(cumulative)])
    within = np.cumsum(counts.counts)
    reached = (within - (within - counts.counts)[counts.starts][counts.groups]) / counts.sizes[counts.groups]
    v = counts.values
    w = np.append(v[1:], m)
    w[np.append(counts.starts[1:], v.size) - 1] = m
    x = np.clip(np.searchsorted(cumulative, reached), v, w)
    run = reached * (2 * x - v - w) + prefix[v] + prefix[w] - 2 * prefix[x]
    distance = np.bincount(counts.groups, weights=run) + prefix[v[counts.starts]]
    return float(distance.max() / (m - 1))


@dataclass(frozen=True)
class SensitiveCounts:
    """Counts of the sensitive values in each class.

    - groups, values, counts, shape (pairs,): The pairs of a class and a value that occur, ascending, and their
      numbers of rows.
    - starts, sizes, shape (classes,): Position of the first pair of each class, and its number of rows.
    - table, shape (values,): Share of each value in the whole table.
    """

    groups: Integers
    values: Integers
    counts: Integers
    starts: Integers
    sizes: Integers
    table: Floats

    @property
    def shares(self) -> Floats:
        """Share of each pair's value in its class, shape (pairs,)."""
        return np.asarray(self.counts / self.sizes[self.groups])

    @property
    def diversity(self) -> ClassDiversity:
        """Diversity of the classes."""
        return ClassDiversity.of_pairs(self.groups, self.values, self.counts, self.table)


def sensitive_counts(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    classes: Integers | None,
    ranks: tuple[Integers, int] | None = None,
) -> SensitiveCounts:
    """Count the values of a sensitive column by class; errors are those of `l_diversity`.

    - ranks, optional: Codes of the values, shape (n,), and the number of codes; by default the column is coded here.
    """
    require_columns(frame, [*quasi_identifiers, sensitive])
    require(
        sensitive not in quasi_identifiers,
        f"column {sensitive!r} is a quasi-identifier and cannot be the sensitive column too",
    )
    class_of_row = given_or_computed_classes(frame, quasi_identifiers, classes)
    sizes = class_sizes(class_of_row)
    if ranks is None:
        codes, distinct = pd.factorize(frame[sensitive], use_na_sentinel=False)
        ranks = codes, len(distinct)
    values, value_count = ranks
    groups, present, counts = count_pairs(class_of_row, values, sizes.size, value_count)
    table = np.bincount(values, minlength=value_count) / len(frame)
    return SensitiveCounts(groups, present, counts, group_starts(groups), sizes, table)


def _ranks(frame: pd.DataFrame, sensitive: str, order: Sequence[Any] | None) -> tuple[Integers, int]:
    """Rank of each row's sensitive value and the number of ranks."""
    require_columns(frame, [sensitive])
    column = frame[sensitive]
    refuse_rows(
        column.isna(), lambda row: f"column {sensitive!r}, row {row}: a missing value has no place in the order"
    )
    if order is None:
        refuse(
            pd.api.types.infer_dtype(column).startswith("mixed"),
            f"column {sensitive!r} mixes kinds of values, which have no order; give one as order",
        )
        codes, distinct = pd.factorize(column, sort=True)
        return codes, len(distinct)
    values = pd.Index(order)
    refuse_rows(values.duplicated(), lambda row: f"order repeats {values[row]!r}; it must hold every value once")
    codes = values.get_indexer(pd.Index(column))
    refuse_rows(codes < 0, lambda row: f"column {sensitive!r}, row {row}: order lacks this value")
    return codes, len(values)


# Attribute disclosure: delta-disclosure privacy and beta-likeness.


def delta_disclosure(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Delta-disclosure: largest |ln(p / q)| over classes and sensitive values; infinite where a class lacks a value.

    A table is delta-disclosure private for every delta above this number.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    sensitive : str
        The column to protect.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row, lacks a column, or the sensitive column is a quasi-identifier.

    References
    ----------
    Brickell and Shmatikov (2008), The cost of privacy, section 3.
    """
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    if counts.values.size < counts.sizes.size * counts.table.size:
        return float(np.inf)
    return float(np.abs(np.log(counts.shares / counts.table[counts.values])).max())


def beta_likeness(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Basic beta-likeness: largest relative gain (p - q) / q over classes and sensitive values, at least 0.

    Parameters and errors are those of `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), Publishing microdata with a robust privacy guarantee, definition 2.
    """
    return float(max(0.0, _gains(frame, quasi_identifiers, sensitive, classes)[0].max()))


def enhanced_beta_likeness(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Enhanced beta-likeness: smallest beta with every gain at most min(beta, -ln q); infinite if a gain exceeds -ln q.

    The gain of a value is (p - q) / q. Parameters and errors are those of `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), definition 3.
    """
    gains, shares = _gains(frame, quasi_identifiers, sensitive, classes)
    # With a share of 1 the gain is 0; rounding errors must not count as a gain.
    positive = gains > 1e-12
    if (gains[positive] > -np.log(shares[positive])).any():
        return float(np.inf)
    return float(gains[positive].max(initial=0.0))


def _gains(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, classes: Integers | None
) -> tuple[Floats, Floats]:
    """Relative gain of each value that occurs in a class, and its share in the table."""
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    table = counts.table[counts.values]
    return (counts.shares - table) / table, table
