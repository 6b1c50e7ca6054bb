"""Mondrian multidimensional k-anonymity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.random import Generator

from defenses.base import (
    Channel,
    ClassCells,
    CodedColumn,
    Containment,
    CountedTable,
    Guarantee,
    Microdata,
    MicrodataRelease,
    Recoding,
    RecordsInBlocks,
    RecordsInMemory,
    chosen_columns,
    filled,
    k_anonymity_over,
    recoded_release,
)
from defenses.grouping.constraints import (
    ConstrainedDefense,
    check_apart,
    check_whole_table,
    counted_sensitive_columns,
    sensitive_columns,
)
from defenses.grouping.microaggregation.representatives import (
    REPRESENTATIVES,
    grouped_column,
    release_representatives,
)
from defenses.grouping.mondrian.columns import OrderedColumn, code_columns, each_column, order_column
from defenses.grouping.mondrian.partition import CutRules, partition
from defenses.grouping.mondrian.parts import TableInParts
from metrics.columns import Integers, check_boolean, check_choice, require


class Mondrian(ConstrainedDefense):
    """Mondrian multidimensional k-anonymity: classes of at least k records, released as intervals and sets.

    The records are split recursively, each time at a value of one column. Each final class is released under the cells
    that cover its values. Classes may also be required to be l-diverse, t-close or (alpha, k)-anonymous.

    Parameters
    ----------
    k : int
        Smallest class size, at least 1.
    strict : bool
        Whether records of equal value stay on one side of a cut. If false (relaxed partitioning), a cut may separate
        tied records, and a random draw decides their side. Classes are then smaller and may overlap.
    l : float, optional
        l-diversity of every sensitive column: an integer, or any number for entropy l-diversity.
    diversity : {"distinct", "entropy", "recursive"}
        Form of l-diversity.
    c : float, optional
        The factor of recursive (c, l)-diversity, above 0.
    t : float, optional
        t-closeness of every sensitive column to the whole table, in [0, 1].
    distance : {"equal", "ordered"}
        Ground distance of t-closeness: 1 for any two values, or their difference in rank. Ranks are those of numbers,
        or of the categories of an ordered domain.
    alpha : float, optional
        Largest share of one sensitive value in a class, in (0, 1]: (alpha, k)-anonymity.
    columns : sequence of str, optional
        The columns to generalize; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}, optional
        Release this representative of each class instead of the covering cells; see `Microaggregation`.

    Raises
    ------
    ValueError
        If a parameter is out of range or unknown.
        On `apply` and `guarantee`: if `k` exceeds the number of records, or `l` the number of sensitive values.
        On `apply` and `guarantee`: if all records together violate a constraint, or a column is unknown.
        On `apply`: if a column holds an infinity, or a value that its domain or hierarchy lacks.

    Notes
    -----
    Split rule. Let s be the share of a column's domain that a class covers. It is the width of the class's interval
    divided by the width of the domain. For u > 1 of d categories it is u / d; for a single value it is 0. The
    normalised certainty penalty of a class of n records in one column is n s. A cut lies between neighbouring values
    of one column and must leave at least k records on both sides. The gain of a cut is
    n s - (n_left s_left + n_right s_right), with s taken in the column that is cut. This is a lower bound on the gain
    over all columns, because both sides can only narrow in the other columns. Each class takes the cut with the
    largest gain, and classes are cut as long as a cut is allowed. Relaxed cuts may also leave exactly k records on one
    side. Under constraints, both sides of a cut must satisfy them.

    Order. Numbers are cut by value. Categories with a hierarchy are ordered so that its groups stay together, and
    categories of an ordered domain in the order of the domain. Other categories are ordered by descending frequency,
    so that frequent ones are soon released unchanged.

    Cells. A class releases the interval from its smallest to its largest number, the set of its categories, or its
    single value. A missing value is a value of its own and comes before all others. A class that holds both missing
    and other values releases ``*``. Rows keep their order, and the other columns keep their values.

    Guarantee: k-anonymity over the columns, with the constraints. It extends to the quasi-identifiers if all of them
    are among the columns. Classes with equal released cells merge, which violates no constraint. Channel: containment
    in every column, or the channel of the representatives.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity.
    Xu, Wang, Pei, Wang, Shi and Fu (2006), Utility-based anonymization using local recoding, section 2 (the penalty).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, Mondrian
    >>> table = pd.DataFrame({"age": [20, 60, 21, 61, 22, 62], "job": list("xyxzxz"), "ill": list("uvwuvw")})
    >>> records = Microdata(table, quasi_identifiers=("age", "job"), sensitive=("ill",))
    >>> print(Mondrian(k=3).apply(records, np.random.default_rng(0)).frame)
           age    job ill
    0  [20,22]      x   u
    1  [60,62]  {z|y}   v
    2  [20,22]      x   w
    3  [60,62]  {z|y}   u
    4  [20,22]      x   v
    5  [60,62]  {z|y}   w

    Groups of fewer than 2k are final. The ages 45, 47 and 52 with salaries 500, 520 and 480 become 48 and 500:

    >>> salaries = pd.DataFrame({"age": [20, 22, 45, 47, 52], "salary": [200, 220, 500, 520, 480]})
    >>> records = Microdata(salaries, quasi_identifiers=("age", "salary"))
    >>> print(Mondrian(k=2, representative="mean").apply(records, np.random.default_rng(0)).frame)
       age  salary
    0   21     210
    1   21     210
    2   48     500
    3   48     500
    4   48     500
    """

    called = ("Mondrian", "Multidimensional k-anonymity", "k-anonymization")

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
        self.strict = check_boolean("strict", strict)
        if representative is not None:
            check_choice("representative", representative, REPRESENTATIVES)
        self.representative = representative

    @property
    def works_on_counts(self) -> bool:
        """Whether the classes follow from counts: records of equal values are neither distinguished nor averaged."""
        return self.strict and self.representative is None

    def coded(self, records: Microdata, names: Sequence[str]) -> Mapping[str, CodedColumn]:
        """Code columns by the order of their values."""
        return code_columns(records, names)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records of each class under the cells that cover the class."""
        table = self.counted(records)
        if self.works_on_counts and table.is_large:
            return recoded_release(records, self.recode_large(RecordsInMemory(records)))
        order = np.arange(len(records)) if self.strict else rng.permutation(len(records))
        columns, classes, count = self._divided(table, order)
        if self.representative is None:
            return recoded_release(records, self._recoding(table, columns, classes, count))
        replaced = [
            grouped_column(records.frame[column.name], column.domain, table.columns[column.name]) for column in columns
        ]
        return release_representatives(records, replaced, classes, self.representative)

    def recode(self, records: CountedTable) -> Recoding:
        """Release counted records; nothing is drawn."""
        require(
            self.works_on_counts,
            "strict and representative: relaxed cuts and representatives need every record in memory",
        )
        return self._recoding(records, *self._divided(records, np.arange(records.counts.size)))

    def recode_large(self, records: RecordsInBlocks) -> Recoding:
        """Divide the records part by part; see `TableInParts`. The same table in memory has the same classes."""
        roles = records.counted
        guarantee = self.guarantee(roles)
        table = TableInParts.of(records, self.k, self._checked_columns(roles), self.constraints)
        tree, sizes = table.tree()
        classes: Integers = np.empty(len(roles), dtype=np.int32)
        count = 0
        cells: dict[str, list[ClassCells]] = {name: [] for name in table.columns}
        for positions, columns, part_classes, part_count in table.divided(tree, sizes):
            classes[positions] = part_classes + count
            count += part_count
            for name, each in _class_cells(columns, part_classes, part_count).items():
                cells[name].append(each)
        parts = "1 part" if sizes.size == 1 else f"{sizes.size:,} parts"
        return Recoding(
            classes,
            {name: ClassCells.joined(each) for name, each in cells.items()},
            guarantee,
            _containment(table.columns.values()),
            f"{parts}, cut on a sample and tested on all records, then divided in memory",
        )

    def _divided(self, records: CountedTable, order: Integers) -> tuple[Sequence[OrderedColumn], Integers, int]:
        """Columns, class of each combination and number of classes; tied records fill a left side in this order."""
        names = records.checked_columns(self.k, self.columns)
        constrained = counted_sensitive_columns(records, self.constraints)
        histograms = [] if records.single else [records.sensitive[column.name] for column in constrained]
        check_apart(names, constrained)
        check_whole_table(self.constraints, constrained)
        roles = records.roles
        columns = [
            order_column(name, roles.domain(name), records.weighted(name), roles.hierarchies.get(name))
            for name in filled(roles, names)
        ]
        rules = CutRules(self.k, self.strict, self.constraints, constrained, histograms)
        # Without weights, columns of distinct numbers are cut faster.
        weights = records.counts if (records.counts > 1).any() else None
        return columns, *partition(columns, order, rules, weights)

    def _recoding(
        self, records: CountedTable, columns: Sequence[OrderedColumn], classes: Integers, count: int
    ) -> Recoding:
        """The cells that cover each class."""
        names = chosen_columns(records.roles, self.columns, records.roles.quasi_identifiers)
        return Recoding(
            classes,
            _class_cells(columns, classes, count),
            k_anonymity_over(self.k, records.roles, names, self.constraints),
            _containment(columns),
        )

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return k-anonymity and the constraints if all quasi-identifiers are generalized."""
        names, sensitive = self._checked_columns(records), sensitive_columns(records, self.constraints)
        check_apart(names, sensitive)
        check_whole_table(self.constraints, sensitive)
        return k_anonymity_over(self.k, records, names, self.constraints)


def _class_cells(columns: Sequence[OrderedColumn], classes: Integers, count: int) -> dict[str, ClassCells]:
    """The cells that cover each class, by column."""
    found = each_column(lambda column: column.class_cells(classes, count), columns, classes.size)
    return {
        column.name: ClassCells(codes.astype(np.int32), cells)
        for column, (codes, cells) in zip(columns, found, strict=True)
    }


def _containment(columns: Iterable[OrderedColumn]) -> Channel:
    return Channel(tuple(Containment(column.name, column.domain) for column in columns))
