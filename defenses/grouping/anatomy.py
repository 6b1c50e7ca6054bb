"""Anatomy: exact quasi-identifiers, and sensitive values known by groups only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.channel_parts import Containment
from defenses.base.columns import is_number_column
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Integers
from metrics.cells import escape
from metrics.domains import format_number


class Anatomy(MicrodataDefense):
    """Bucketization: records are put into groups of at least l different sensitive values, one record each.

    A row is released with its quasi-identifiers as they are and, in the sensitive column, the set of its group's
    values. Who looks at one row alone names its value with probability 1/l at most; what the groups tell together
    about people like it is not limited (`DeFinetti`). That somebody is in the table is not hidden at all.

    Parameters
    ----------
    l : int
        Smallest number of different values in a group, at least 1, where every record is released as it is.
    column : str, optional
        The sensitive column; needed where there is not exactly one.

    Raises
    ------
    ValueError
        If `l` is not an integer of at least 1; on `apply` and `guarantee`, if there is no such column or it is not
        clear which, a value is missing, or one value is that of more than one in l records.

    Notes
    -----
    Groups. Let n records be sorted by their value, values in random order and records of one value in random order,
    and g = floor(n / l). The i-th record goes to group i mod g. A group has floor(n / g) or one more records, at least
    l; and if no value stands more than g times, records of one value, a run of at most g, all go to different groups.
    No grouping is possible otherwise: each group could take one record of the frequent value, and there are at most g
    groups of l.

    Published that way the quasi-identifiers and the groups' values are the two tables of the source, except that
    groups of the same values are not told apart, which takes nothing from a reader who expects the values of such
    groups to be handed out at random.

    References
    ----------
    Xiao and Tao (2006), Anatomy: simple and effective privacy preservation, sections 3 and 4.
    """

    def __init__(self, *, l: int = 2, column: str | None = None) -> None:  # noqa: E741 (the field's own name for it)
        self.l = l
        self.column = column
        check_integer("l", l, low=1)
        if column is not None and not isinstance(column, str):
            raise ValueError(f"column must be the name of a column, got {column!r}")

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Group the records and release each group's set of values."""
        name = self._checked(records)
        frame = released_frame(records)
        if len(records):
            values, distinct = pd.factorize(records.frame[name])
            groups = bucket_groups(values, self.l, rng)
            frame[name] = _sets(records.frame[name], values, distinct, groups)
        return rowwise_release(frame, Channel((Containment(name, records.domain(name)),) if len(records) else ()))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise nothing of the quasi-identifiers, which are released; say what holds of the groups."""
        name = self._checked(records)
        return Guarantee(statement=f"groups of at least {self.l} different values of {name}, one record each")

    def _checked(self, records: Microdata) -> str:
        if self.column is None and len(records.sensitive) != 1:
            raise ValueError(f"column must be named: the records have {len(records.sensitive)} sensitive columns")
        name = self.column or records.sensitive[0]
        if name not in records.released_columns:
            raise ValueError(f"column: there is no released column {name!r}")
        column = records.frame[name]
        if column.isna().any():
            row = int(np.flatnonzero(column.isna())[0])
            raise ValueError(f"column {name!r}, row {row}: a missing value cannot stand in a set")
        most = int(column.value_counts().max()) if len(column) else 0
        if most * self.l > len(column):
            raise ValueError(
                f"l = {self.l}: one value of column {name!r} is that of {most} of {len(column)} records, "
                f"more than one in {self.l}"
            )
        return name


def bucket_groups(values: Integers, l: int, rng: Generator) -> Integers:  # noqa: E741
    """Group of each record, shape (n,), so that no group has a value twice and every group has at least l records.

    Parameters
    ----------
    values : ndarray of int, shape (n,)
        Code of each record's sensitive value, from 0; n >= l >= 1, no value more than n / l times.
    """
    rank = rng.permutation(int(values.max()) + 1)[values]
    order = np.lexsort((rng.random(values.size), rank))
    groups = np.empty(values.size, dtype=np.intp)
    groups[order] = np.arange(values.size) % (values.size // l)
    return groups


def _sets(column: pd.Series[Any], values: Integers, distinct: Any, groups: Integers) -> pd.Series[Any]:
    """The set of each record's group as a released cell; the values as they are where groups have one record."""
    if np.bincount(groups).max() == 1:
        return released_frame(Microdata(column.to_frame()))[str(column.name)]
    numbers = is_number_column(column)
    texts = np.array([format_number(value) if numbers else escape(str(value)) for value in distinct], dtype=object)
    order = np.lexsort((texts[values].astype(str), groups))
    sets = pd.Series(texts[values][order]).groupby(groups[order], sort=True).agg("|".join)
    sizes = np.bincount(groups)
    cells = np.where(sizes == 1, sets.to_numpy(), "{" + sets.to_numpy(dtype=object) + "}")
    return pd.Series(cells[groups], name=column.name, dtype=object)
