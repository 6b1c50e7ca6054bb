"""Channel part for cells that cover the original value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from defenses.base.channel_parts.part import ColumnPart, Likelihood
from metrics.cells import read_cells
from metrics.values import distinct_cells, is_mixed


@dataclass(frozen=True)
class Containment(ColumnPart):
    """The released cell covers the original value: unchanged values, generalization, suppression.

    The log-likelihood is 0 where the cell covers the value, and -inf elsewhere. Given the value, the cell is either
    certain or depends only on facts that the attacker cannot know.
    """

    kind: ClassVar[str] = "containment"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = read_cells(released[self.column], self.domain)
        values = original[self.column]
        codes, distinct = distinct_cells(values) if is_mixed(values) else pd.factorize(values, use_na_sentinel=False)
        with np.errstate(divide="ignore"):
            table = np.log(cells.contains(distinct).astype(float))
        return Likelihood((cells.codes,), (codes,), lambda cell, value: table[cell, value])
