"""Replacement of rows by rows of other records."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata, MicrodataDefense, MicrodataRelease, released_frame
from metrics.columns import check_real


class RecordReplacement(MicrodataDefense):
    """Each row is replaced, with a given probability, by a row drawn uniformly from the whole table.

    Where people have many rows (ratings), a replaced row keeps its person, so that some of a person's rows come from
    others. The table's distribution is unchanged on average. It guarantees nothing: rows that are not replaced are
    released unchanged.

    Parameters
    ----------
    share : float
        Probability that a row is replaced, in [0, 1].

    Raises
    ------
    ValueError
        If `share` is out of range.
    """

    def __init__(self, *, share: float = 0.5) -> None:
        self.share = check_real("share", share, low=0, high=1)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Replace rows. Where people have many rows, no single record is the origin of a replaced row."""
        frame = released_frame(records)
        replaced = rng.random(len(records)) < self.share
        source = np.arange(len(records))
        source[replaced] = rng.integers(len(records), size=int(replaced.sum())) if len(records) else 0
        released = frame.iloc[source].reset_index(drop=True)
        if records.person is None:
            return MicrodataRelease(released, source, None)
        if records.person in released:
            released[records.person] = frame[records.person]
        return MicrodataRelease(released, np.where(replaced, -1, source), None)
