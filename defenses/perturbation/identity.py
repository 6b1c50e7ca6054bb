"""The unchanged release."""

from __future__ import annotations

from numpy.random import Generator

from defenses.base import Channel, Microdata, MicrodataDefense, MicrodataRelease, released_frame, rowwise_release


class Identity(MicrodataDefense):
    """The records are released without identifiers and otherwise unchanged: the reference for utility 1.

    It guarantees nothing.
    """

    called = ("Identity", "No protection")

    @property
    def columnwise(self) -> bool:
        """Cells follow from the values in their columns."""
        return True

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release all columns but the identifiers unchanged."""
        return rowwise_release(released_frame(records), Channel())
