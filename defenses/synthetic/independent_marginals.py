"""Synthetic rows whose columns are independent."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base.columns import filled
from defenses.base.defense import MicrodataDefense, released_frame
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from defenses.synthetic.column_distributions import distribution


class IndependentMarginals(MicrodataDefense):
    """Synthetic rows, each cell drawn on its own from its column's smoothed distribution.

    As many rows as there are records. Numbers are drawn by their public bins, evenly inside a bin. What joins columns
    is lost: the least that synthesis must do better than.

    Parameters
    ----------
    smoothing : float
        Added to the count of every category and bin of the domain, at least 0, so that what nobody has may be drawn
        too. Nothing is added to the missing values.

    Raises
    ------
    ValueError
        If the smoothing is no finite number of at least 0; on `apply`, if a value is no category of its domain.

    Notes
    -----
    It guarantees nothing: counts are exact, and no row of the release stems from a record. There is no channel, since
    there is no record that a row could be likely under.
    """

    def __init__(self, *, smoothing: float = 1.0) -> None:
        check_real("smoothing", smoothing, low=0)
        self.smoothing = smoothing

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Draw the rows."""
        frame = released_frame(records)
        for name in filled(records, records.released_columns):
            frame[name] = distribution(records, name).smoothed_at(rng.random(len(frame)), self.smoothing, rng)
        return MicrodataRelease(frame, np.full(len(frame), -1), None)
