"""Anatomy: unchanged quasi-identifiers, and sensitive values as the set of a group's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    Containment,
    Guarantee,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    is_number_column,
    released_frame,
    rowwise_release,
)
from defenses.grouping.constraints import Constraint, LargestShare
from metrics.columns import Integers, check_integer, escape, format_number, refuse, refuse_rows


class Anatomy(MicrodataDefense):
    """Anatomy (bucketization): sensitive values are released as the set of values in a group of at least l records.

    Each group holds at least l different sensitive values, one record each. A row keeps its quasi-identifiers. Its
    sensitive cell is the set of the values in its group. An adversary who looks at one row alone names its value with
    probability at most 1/l. What the groups together reveal about similar people is not limited; see `DeFinetti`.
    Membership in the table is not protected at all.

    Parameters
    ----------
    l : int
        Smallest number of different values in a group, at least 1; with 1 every record is released unchanged.
    column : str, optional
        The sensitive column; required unless the records have exactly one.

    Raises
    ------
    ValueError
        If `l` is not an integer of at least 1.
        On `apply` and `guarantee`: if the column does not exist, or none is named and there is not exactly one.
        On `apply` and `guarantee`: if a value is missing, or one value occurs in more than one in l records.

    Notes
    -----
    Groups. Sort the n records by their value, with the values in random order and the records of one value in random
    order. Let g = floor(n / l). The i-th record goes to group i mod g, so each group has floor(n / g) records or one
    more, and thus at least l. The records of one value are consecutive. If there are at most g of them, they all go to
    different groups. No valid grouping exists otherwise: each group could take one record of the frequent value, and
    there are at most g groups of l.

    The source publishes two tables, of the quasi-identifiers and of the groups' values. This release equals them,
    except that groups with equal values are not distinguished. A reader who expects the values within such groups to
    be assigned at random loses nothing.

    References
    ----------
    Xiao and Tao (2006), Anatomy: simple and effective privacy preservation, sections 3 and 4.
    """

    called = ("Anatomy", "Bucketization")

    def __init__(self, *, l: int = 2, column: str | None = None) -> None:  # noqa: E741 (the field's own name for it)
        self.column = column
        self.l = check_integer("l", l, low=1)
        refuse(
            column is not None and not isinstance(column, str), f"column must be the name of a column, got {column!r}"
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Group the records and release the set of values of each group."""
        name = self._checked(records)
        frame = released_frame(records)
        if len(records):
            values, distinct = pd.factorize(records.frame[name])
            frame[name] = _sets(records.frame[name], values, distinct, bucket_groups(values, self.l, rng))
        return rowwise_release(frame, Channel((Containment(name, records.domain(name)),) if len(records) else ()))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return a statement about the groups; the quasi-identifiers are released, so there is no k."""
        name = self._checked(records)
        return Guarantee(
            statement=f"groups of at least {self.l} different values of {name}, one record each", kept_in_parts=True
        )

    def value_constraints(self, records: Microdata) -> Mapping[str, tuple[Constraint, ...]]:
        """No value may occur in more than one in l records, or some group has it twice."""
        return {self._column(records): (LargestShare(1 / self.l),)}

    def _column(self, records: Microdata) -> str:
        refuse(
            self.column is None and len(records.sensitive) != 1,
            f"column must be named: the records have {len(records.sensitive)} sensitive columns",
        )
        name = self.column or records.sensitive[0]
        records.check_released("column", name)
        return name

    def _checked(self, records: Microdata) -> str:
        name = self._column(records)
        column = records.frame[name]
        refuse_rows(column.isna(), lambda row: f"{records.place(name, row)}: a missing value cannot stand in a set")
        counts = np.bincount(pd.factorize(column)[0], weights=records.row_counts(name))
        most, all_records = int(counts.max(initial=0)), int(counts.sum())
        refuse(
            most * self.l > all_records,
            (
                f"l = {self.l}: one value of column {name!r} occurs in {most} of {all_records} records, "
                f"more than one in {self.l}"
            ),
        )
        return name


def bucket_groups(values: Integers, l: int, rng: Generator) -> Integers:  # noqa: E741
    """Group of each record, shape (n,): no group has a value twice, and every group has at least l records.

    - values of shape (n,): Code of each record's sensitive value, from 0; no value occurs more than n / l times.
    - l: Smallest group size, 1 <= l <= n.
    """
    rank = rng.permutation(int(values.max()) + 1)[values]
    order = np.lexsort((rng.random(values.size), rank))
    groups = np.empty(values.size, dtype=np.intp)
    groups[order] = np.arange(values.size) % (values.size // l)
    return groups


def _sets(column: pd.Series[Any], values: Integers, distinct: Any, groups: Integers) -> pd.Series[Any]:
    """Set of values in each record's group as a released cell; a group of one record releases its value."""
    if np.bincount(groups).max() == 1:
        return released_frame(Microdata(column.to_frame()))[str(column.name)]
    numbers = is_number_column(column)
    texts = np.array([format_number(value) if numbers else escape(str(value)) for value in distinct], dtype=object)
    order = np.lexsort((texts[values].astype(str), groups))
    sets = pd.Series(texts[values][order]).groupby(groups[order], sort=True).agg("|".join)
    sizes = np.bincount(groups)
    cells = np.where(sizes == 1, sets.to_numpy(), "{" + sets.to_numpy(dtype=object) + "}")
    return pd.Series(cells[groups], name=column.name, dtype=object)
