"""Channel parts for cells that are not linked to their record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from defenses.base.channel_parts.part import Likelihood, ValuePart
from defenses.base.columns import is_number_column, plain_numbers
from metrics.cells import escape_column


@dataclass(frozen=True)
class Independent(ValuePart):
    """The released cell is independent of the record; the log-likelihood is 0 for every pair."""

    kind: ClassVar[str] = "independent"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        return Likelihood((np.zeros(len(released)),), (np.zeros(len(original)),), np.add)


@dataclass(frozen=True)
class Presence(ValuePart):
    """The column is released in random order, so that a record's cell is equally likely any of the cells.

    The log-likelihood of every released row under an original value is log(count / rows), the probability of drawing
    the value from the released column. It is -inf for a value that does not occur there.
    """

    kind: ClassVar[str] = "presence"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        if is_number_column(original[self.column]):
            cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        else:
            cells = released[self.column].to_numpy(dtype=object)
            values = escape_column(original[self.column]).to_numpy(dtype=object)
        codes, distinct = pd.factorize(np.concatenate([cells, values]), use_na_sentinel=False)
        count = np.bincount(codes[: cells.size], minlength=len(distinct))
        with np.errstate(divide="ignore"):
            table = np.log(count / max(1, cells.size))
        return Likelihood((np.zeros(len(released)),), (table[codes[cells.size :]],), np.add)
