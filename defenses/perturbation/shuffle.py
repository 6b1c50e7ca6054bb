"""Columns permuted independently of each other."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.channel_parts import Presence
from defenses.base.defense import MicrodataDefense, released_frame
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease


class Shuffle(MicrodataDefense):
    """Every released column permuted on its own: each column keeps its distribution, and nothing joins them.

    A row mixes cells of several records, so that none stems from one record. Who is among the records may still
    show by a rare value. It guarantees nothing.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Permute each released column."""
        frame = released_frame(records)
        for name in frame.columns:
            frame[name] = frame[name].iloc[rng.permutation(len(frame))].reset_index(drop=True)
        channel = Channel(tuple(Presence(name) for name in records.released_columns))
        return MicrodataRelease(frame, np.full(len(frame), -1), channel)
