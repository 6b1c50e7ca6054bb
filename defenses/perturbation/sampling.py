"""Simple random sampling."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Channel, Microdata, MicrodataDefense, MicrodataRelease, released_frame, rowwise_release
from metrics.columns import check_real


class Sampling(MicrodataDefense):
    """A simple random sample of the records, drawn without replacement; the sampled records keep their order.

    It guarantees nothing: a sampled record is released unchanged.

    Parameters
    ----------
    rate : float
        Sampling rate in (0, 1]; the sample has rate times the number of records, rounded, but at least 1.

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1].
    """

    def __init__(self, *, rate: float = 0.5) -> None:
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the sampled records; none if the table is empty."""
        size = len(records)
        count = min(size, max(1, int(np.floor(self.rate * size + 0.5))))
        chosen = np.sort(rng.choice(size, count, replace=False)) if size else np.arange(0)
        return rowwise_release(released_frame(records), Channel(sampling_rate=float(self.rate))).take(chosen)
