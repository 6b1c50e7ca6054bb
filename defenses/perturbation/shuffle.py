"""Independent permutations of the columns."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Channel, Microdata, MicrodataDefense, MicrodataRelease, released_frame
from defenses.base.channel_parts import Presence


class Shuffle(MicrodataDefense):
    """Every released column is permuted independently: marginal distributions are kept, all associations are lost.

    A released row mixes cells of several records, so that it stems from no single record. A rare value may still reveal
    that a person is among the records. It guarantees nothing.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Permute each released column."""
        frame = released_frame(records)
        for name in frame.columns:
            frame[name] = frame[name].iloc[rng.permutation(len(frame))].reset_index(drop=True)
        channel = Channel(tuple(Presence(name) for name in records.released_columns))
        return MicrodataRelease(frame, np.full(len(frame), -1), channel)
