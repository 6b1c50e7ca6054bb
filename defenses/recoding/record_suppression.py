"""Suppression of records in small equivalence classes."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Channel, KAnonymousDefense, Microdata, MicrodataRelease, released_frame, rowwise_release
from metrics.classes import class_sizes, equivalence_classes


class RecordSuppression(KAnonymousDefense):
    """Records in classes smaller than k are suppressed; all others are released unchanged.

    Parameters
    ----------
    k : int
        Smallest class that is released, at least 1.
    columns : sequence of str, optional
        The columns that define the classes; by default the quasi-identifiers. A missing value is a value of its own.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1. On `apply` and `guarantee`, if it exceeds the number of records or a
        column is unknown.

    Notes
    -----
    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. The release
    may be empty. Record suppression is usually the last step, after recoding has made most classes large enough.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, section 3.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records of classes with at least k records, in their order."""
        frame = released_frame(records)
        classes = equivalence_classes(frame, self._checked_columns(records))
        return rowwise_release(frame, Channel()).take(np.flatnonzero(class_sizes(classes)[classes] >= self.k))
