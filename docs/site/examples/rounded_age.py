"""A defense in one file: ages rounded to a multiple."""

from defenses import MicrodataDefense, check_integer, released_frame, rowwise_release


class RoundedAge(MicrodataDefense):
    """Ages are rounded to the nearest multiple of a base.

    Parameters
    ----------
    base : int
        The ages are multiples of this, at least 1.
    """

    def __init__(self, *, base: int = 10) -> None:
        check_integer("base", base, low=1)
        self.base = base

    @property
    def columnwise(self):
        """A released cell follows from the value in its column."""
        return True

    def apply(self, records, rng):
        """Release the records with rounded ages."""
        frame = released_frame(records)
        if "age" in frame:
            frame["age"] = (frame["age"] / self.base).round() * self.base
        return rowwise_release(frame, channel=None)
