"""Coarser numbers: rounding, and top and bottom coding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Clipping,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    Rounded,
    check_columns,
    check_number_or_numbers,
    numeric_columns,
    plain_numbers,
    recoded_step,
    released_frame,
    rowwise_release,
    stored_alike,
)
from metrics.columns import check_real, require


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

    columnwise = True
    """Cells follow from the values in their columns."""

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


class TopBottomCoding(BlockwiseDefense):
    """Numbers below a lower or above an upper threshold are replaced by the threshold.

    It guarantees nothing: all other numbers are released unchanged, and thresholds from a share are values of the
    table.

    Parameters
    ----------
    share : float, optional
        Largest share of a column's values that is coded at either end, in [0, 0.5). The thresholds are the sorted
        values at position share times the largest position, rounded down, counted from either end.
    thresholds : mapping of str to (float, float), optional
        Lower and upper threshold of each column, in its unit; infinite to leave that end unchanged. Give either this or
        `share`.
    columns : sequence of str, optional
        Columns with numbers that `share` applies to; by default all numeric quasi-identifiers.

    Raises
    ------
    ValueError
        If both or neither of `share` and `thresholds` are given, or one of them is out of range.

    References
    ----------
    Hundepool et al. (2012), "Statistical Disclosure Control", section 3.2.
    """

    called = ("Top and bottom coding", "Top coding", "Bottom coding")

    needs: Needs = "histograms"

    def __init__(
        self,
        *,
        share: float | None = None,
        thresholds: Mapping[str, tuple[float, float]] | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        require((share is None) != (thresholds is None), "give either share or thresholds")
        self.share = check_real("share", share, low=0, high=0.5, open_high=True, optional=True)
        if thresholds is not None:
            require(columns is None, "columns goes with share; thresholds names its own columns")
            for name, ends in thresholds.items():
                require(
                    isinstance(ends, Sequence)
                    and len(ends) == 2
                    and all(isinstance(end, int | float) for end in ends)
                    and ends[0] <= ends[1],
                    f"thresholds[{name!r}] must be a lower and an upper number, got {ends!r}",
                )
        self.columns = check_columns(columns)
        self.thresholds = thresholds

    @classmethod
    def example(cls) -> Self:
        """Top and bottom coding of 5 % of the values at each end."""
        return cls(share=0.05)

    @property
    def columnwise(self) -> bool:
        """Whether the thresholds are given."""
        return self.thresholds is not None

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Find the thresholds of each column."""
        thresholds = {name: self._ends(records, name) for name in self._names(records.counted)}
        steps = [recoded_step(records, name, partial(_coded, ends)) for name, ends in thresholds.items()]
        return ReleasePlan(steps, Channel(tuple(Clipping(name, low, high) for name, (low, high) in thresholds.items())))

    def check(self, records: Microdata) -> None:
        """Check that the columns exist and hold numbers."""
        for name in self._names(records):
            plain_numbers(records.frame[name])

    def _names(self, records: Microdata) -> tuple[str, ...]:
        return numeric_columns(records, self.columns if self.thresholds is None else tuple(self.thresholds))

    def _ends(self, records: RecordsInBlocks, name: str) -> tuple[float, float]:
        if self.thresholds is not None:
            low, high = self.thresholds[name]
            return float(low), float(high)
        last = records.present(name) - 1
        coded = int((self.share or 0.0) * last)
        return records.number_at(name, coded), records.number_at(name, last - coded)


def _coded(ends: tuple[float, float], values: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers between two thresholds, and the thresholds for others."""
    return stored_alike(np.clip(plain_numbers(values), *ends), values)
