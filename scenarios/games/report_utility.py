"""What randomized reports are worth to whoever counts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from defenses.base.release import ReportsRelease
from defenses.base.simplex import project_to_simplex


def utility_frequencies(release: ReportsRelease, counts: NDArray[np.intp]) -> float | None:
    """Anchored accuracy of the estimated shares: 1 if they are exact, 0 if no better than equal shares.

    It is 1 - T/T_0, floored at 0, with T the total variation distance between the true shares and the estimated ones,
    averaged over rounds and projected onto the simplex, and T_0 that between the true shares and equal ones.

    Parameters
    ----------
    release : ReportsRelease
        At least one round.
    counts : ndarray of int, shape (d,)
        True counts; they sum to the number of reports in a round.

    Returns
    -------
    float or None
        None where there is no report or the true shares are equal ones.
    """
    n, d = int(counts.sum()), counts.size
    if not n:
        return None
    rounds = [release.protocol.estimate(reports) for reports in release.reports]
    estimated = project_to_simplex(np.mean(rounds, axis=0), n)
    blind = np.abs(counts - n / d).sum()
    return None if blind == 0 else float(max(0.0, 1 - np.abs(estimated - counts).sum() / blind))
