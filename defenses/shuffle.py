"""Columns permuted independently of each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.channel import Channel
from defenses.channel_parts import Presence
from defenses.defense import MicrodataDefense, released_frame
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease


class Shuffle(MicrodataDefense):
    """Every released column permuted on its own: each column keeps its distribution, and nothing joins them.

    A row mixes cells of several records, so that none stems from one record. Who is among the records may still
    show by a rare value. It guarantees nothing.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Permute each released column."""
        frame = released_frame(records)
        orders = {name: rng.permutation(len(frame)) for name in frame.columns}
        mixed = {name: frame[name].iloc[order].reset_index(drop=True) for name, order in orders.items()}
        channel = Channel(tuple(Presence(str(name)) for name in frame.columns))
        return MicrodataRelease(pd.DataFrame(mixed, index=frame.index), np.full(len(frame), -1), channel)
