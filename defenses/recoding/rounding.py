"""Deterministic rounding of numbers to multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.random import Generator

from defenses.base import (
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    check_number_or_numbers,
    numeric_columns,
    plain_numbers,
    released_frame,
    rowwise_release,
    stored_alike,
)
from defenses.base.channel_parts import Rounded


class Rounding(MicrodataDefense):
    """Numbers are rounded to the nearest multiple of a base.

    It guarantees nothing: the number of records that share a multiple depends on the table. A multiple may lie outside
    the column's bounds, by up to half the base. A missing value stays missing.

    Parameters
    ----------
    base : float or mapping of str to float
        The base, above 0, in the column's unit; one for all columns, or one for each by name. A number half-way between
        two multiples is rounded to the even one.
    columns : sequence of str, optional
        Columns with numbers; by default those that `base` names, or else all numeric quasi-identifiers.

    Raises
    ------
    ValueError
        If a base is not a finite number above 0, or both `columns` and a mapping are given.

    References
    ----------
    Hundepool et al. (2012), "Statistical Disclosure Control", section 3.3, deterministic rounding.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, Rounding
    >>> records = Microdata(pd.DataFrame({"age": [14, 15, 26]}), quasi_identifiers=("age",))
    >>> Rounding(base=10).apply(records, np.random.default_rng(0)).frame["age"].tolist()
    [10, 20, 30]
    """

    def __init__(self, *, base: float | Mapping[str, float] = 10, columns: Sequence[str] | None = None) -> None:
        self.base = check_number_or_numbers("base", base, columns, low=0, open_low=True)
        self.columns = columns

    @property
    def columnwise(self) -> bool:
        """Cells follow from the values in their columns."""
        return True

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the rounded columns."""
        frame = released_frame(records)
        asked = tuple(self.base) if isinstance(self.base, Mapping) else self.columns
        parts = []
        for name in numeric_columns(records, asked):
            base = self.base[name] if isinstance(self.base, Mapping) else self.base
            part = Rounded(name, float(base))
            frame[name] = stored_alike(part.publish(plain_numbers(records.frame[name])), records.frame[name])
            parts.append(part)
        return rowwise_release(frame, Channel(tuple(parts)))
