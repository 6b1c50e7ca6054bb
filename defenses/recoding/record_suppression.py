"""Records left out that too few others resemble."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.k_anonymous import KAnonymousDefense
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.classes import class_sizes, equivalence_classes


class RecordSuppression(KAnonymousDefense):
    """Records whose class is smaller than k are left out; all others are released as they are.

    Parameters
    ----------
    k : int
        Smallest class that is released, at least 1.
    columns : sequence of str, optional
        The columns that make the classes; by default the quasi-identifiers. A missing value is a value of its own.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1; on `apply` and `guarantee`, if it exceeds the number of records or a
        column is unknown.

    Notes
    -----
    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. It may leave
    no record at all. Usually a last step, after recoding has made most classes large enough.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, section 3.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records of large enough classes, in their order."""
        frame = released_frame(records)
        classes = equivalence_classes(frame, self._checked_columns(records))
        return rowwise_release(frame, Channel()).take(np.flatnonzero(class_sizes(classes)[classes] >= self.k))
