"""Synthetic rows drawn from independent marginals."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata, MicrodataDefense, MicrodataRelease, filled, released_frame
from defenses.synthetic.mixed_column import distribution, mixed_column
from metrics.columns import check_real


class IndependentMarginals(MicrodataDefense):
    """Synthetic rows from independent marginals: each cell is drawn from its column's smoothed distribution.

    There are as many rows as records. Numbers are drawn from their public bins, uniformly inside a bin. All
    associations between columns are lost. It is the baseline that other synthesizers should beat.

    Parameters
    ----------
    smoothing : float
        Number added to the count of every category and bin of the domain, at least 0. With a positive number, values
        that no record has may be drawn too. Nothing is added to missing values.

    Raises
    ------
    ValueError
        If the smoothing is not a finite number of at least 0; on `apply`, if a value is no category of its domain.

    Notes
    -----
    There is no guarantee: counts are exact. No row stems from a record, so there is no channel.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import IndependentMarginals, Microdata
    >>> records = Microdata(pd.DataFrame({"sex": list("FFFFFF"), "town": ["Ulm"] * 6}))
    >>> release = IndependentMarginals(smoothing=0).apply(records, np.random.default_rng(0))
    >>> release.frame.value_counts().to_dict()
    {('F', 'Ulm'): 6}
    >>> release.origin.tolist()
    [-1, -1, -1, -1, -1, -1]
    """

    called = ("Independent marginals", "Independent attributes")

    def __init__(self, *, smoothing: float = 1.0) -> None:
        self.smoothing = check_real("smoothing", smoothing, low=0)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Draw the rows."""
        frame = released_frame(records)
        for name in filled(records, records.released_columns):
            column = mixed_column(records, name)
            drawn = distribution(column).smoothed_at(rng.random(len(frame)), self.smoothing, rng)
            frame[name] = column.released(drawn)
        return MicrodataRelease(frame, np.full(len(frame), -1), None)
