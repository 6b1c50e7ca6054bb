"""Release of a random sample with the same share of every stratum."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.columns import check_columns
from defenses.base.defense import MicrodataDefense, chosen_columns, released_frame, rowwise_release
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease


class StratifiedSampling(MicrodataDefense):
    """A random sample that takes the same share of the records of every stratum, in their order.

    It guarantees nothing: a sampled record is released as it is.

    Parameters
    ----------
    by : str
        The column whose values are the strata; missing ones are a stratum of their own.
    rate : float
        Probability of every record to be sampled, in (0, 1].

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1]; on `apply`, if there is no such column.

    Notes
    -----
    Records stand stratum by stratum, in random order inside each, and with U uniform on [0, 1) the one in place
    i = 0, 1, … is taken if floor(rate (i + 1) + U) > floor(rate i + U): each with probability `rate` exactly, and of
    s successive ones rate s, rounded up or down. So many are taken of every stratum and of the table, which may be
    none of a small one.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.4 and 3.7.
    """

    def __init__(self, *, by: str, rate: float = 0.5) -> None:
        check_columns([by])
        check_real("rate", rate, low=0, high=1, open_low=True)
        self.by = by
        self.rate = rate

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the sampled records."""
        (name,) = chosen_columns(records, [self.by], ())
        strata = pd.factorize(records.frame[name], use_na_sentinel=False)[0]
        order = np.lexsort((rng.random(len(records)), strata))
        steps = np.floor(self.rate * np.arange(len(records) + 1) + rng.random())
        chosen = np.sort(order[np.diff(steps) > 0])
        return rowwise_release(released_frame(records), Channel(sampling_rate=float(self.rate))).take(chosen)
