"""Release of the records as they are."""

from __future__ import annotations

from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease


class Identity(MicrodataDefense):
    """The records without identifiers and otherwise unchanged: the end of the scale where utility is full.

    It guarantees nothing.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release every other column as it is."""
        return rowwise_release(released_frame(records), Channel())
