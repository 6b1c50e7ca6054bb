"""Stratified sampling with proportional allocation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    check_columns,
    chosen_columns,
    released_frame,
    rowwise_release,
)
from metrics.columns import check_real


class StratifiedSampling(MicrodataDefense):
    """A random sample with the same sampling rate in every stratum; the sampled records keep their order.

    It guarantees nothing: a sampled record is released unchanged.

    Parameters
    ----------
    by : str
        The column whose values are the strata; missing values form a stratum of their own.
    rate : float
        Inclusion probability of every record, in (0, 1].

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1]. On `apply`, if there is no such column.

    Notes
    -----
    Records are ordered by stratum, and at random inside each stratum. With U uniform on [0, 1), the record at position
    i = 0, 1, … is sampled if floor(rate (i + 1) + U) > floor(rate i + U). Each record is sampled with probability
    `rate` exactly; of s successive records, rate s are sampled, rounded up or down. This holds for every stratum and
    for the table; a small stratum may have no sampled record.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.4 and 3.7.
    """

    def __init__(self, *, by: str, rate: float = 0.5) -> None:
        check_columns([by])
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)
        self.by = by

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the sampled records."""
        (name,) = chosen_columns(records, [self.by], ())
        strata = pd.factorize(records.frame[name], use_na_sentinel=False)[0]
        order = np.lexsort((rng.random(len(records)), strata))
        steps = np.floor(self.rate * np.arange(len(records) + 1) + rng.random())
        chosen = np.sort(order[np.diff(steps) > 0])
        return rowwise_release(released_frame(records), Channel(sampling_rate=float(self.rate))).take(chosen)
