"""Whether a table's rows resemble the originals that its team declares as theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metrics.arrays import Floats, Integers
from metrics.profile import original_profile, profile
from metrics.similarity import record_similarity
from scenarios.tournament.rules.sheets import ORIGINAL_ROW, Sheet
from scenarios.tournament.rules.submission_utility import Originals

_LEAST_GAIN = 0.02
"""Smallest gain of the host's assignment in similarity that tells rows apart."""
_LEAST_SHARE = 0.15
"""Share of this gain below which the declared originals resemble the rows like any others: on 100 bank records, wrong
orders had at most 0.08, and defenses with the right one 0.29, unless they kept less than a third of the values."""


@dataclass(frozen=True)
class OriginFit:
    """Mean similarity of a table's rows to originals, in [0, 1].

    Attributes
    ----------
    declared : float
        To the originals that the team declares as theirs.
    overall : float
        To all originals.
    assigned : float
        To the originals that a one-to-one assignment gives them.
    """

    declared: float
    overall: float
    assigned: float

    @classmethod
    def of(cls, originals: Originals, sheet: Sheet, assigned: Integers) -> OriginFit:
        """Fit of a table, given the host's assignment of its rows; -1 is a row without an original."""
        similarity = record_similarity(
            original_profile(originals.frame, originals.domains),
            profile(sheet.frame, originals.domains),
            originals.domains,
        )
        # Rows without a declared original say nothing about the others.
        rows = np.flatnonzero(sheet.origin >= 0)
        if not rows.size:
            return cls(1.0, 1.0, 1.0)
        overall = float(similarity[:, rows].mean())
        return cls(_mean(similarity, sheet.origin, rows), overall, _mean(similarity, assigned, rows))

    def words(self) -> str:
        """A warning in one line; empty if the declared originals fit."""
        gain = self.assigned - self.overall
        if gain < _LEAST_GAIN or self.declared - self.overall >= _LEAST_SHARE * gain:
            return ""
        return (
            f"warning: rows resemble the originals that {ORIGINAL_ROW} names no more than all others (similarity "
            f"{self.declared:.3f} and {self.overall:.3f}; other origins reach {self.assigned:.3f}); is {ORIGINAL_ROW} "
            "in the order of the rows?"
        )


def _mean(similarity: Floats, origin: Integers, rows: Integers) -> float:
    """Mean similarity of some rows to their origins; those without one are left out."""
    with_one = rows[origin[rows] >= 0]
    return float(similarity[origin[with_one], with_one].mean()) if with_one.size else 0.0
