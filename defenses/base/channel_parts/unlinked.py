"""Parts for cells that are not tied to their record."""

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
    """The released cell says nothing of the record it stems from; the log-likelihood is 0 for every pair."""

    kind: ClassVar[str] = "independent"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        return Likelihood((np.zeros(len(released)),), (np.zeros(len(original)),), np.add)


@dataclass(frozen=True)
class Presence(ValuePart):
    """The column's cells are released in random order: a record's cell is any of them alike.

    The log-likelihood of every released row under an original value is that of drawing the value from the released
    column, log(count / rows), which is -inf for a value that does not occur there.
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
