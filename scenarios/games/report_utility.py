"""Utility of randomized reports: accuracy of the estimated frequencies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from defenses.base.release import ReportsRelease
from defenses.base.simplex import project_to_simplex


def utility_frequencies(release: ReportsRelease, counts: NDArray[np.intp]) -> float | None:
    """Anchored accuracy of estimated frequencies: 1 if they are exact, 0 if they are no better than uniform ones.

    It is max(0, 1 - T/T_0). T is the total variation distance between the true frequencies and the estimates, which
    are averaged over rounds and projected onto the simplex. T_0 is the distance between the true frequencies and the
    uniform distribution.

    Parameters
    ----------
    release : ReportsRelease
        The reports of at least one round.
    counts : ndarray of int, shape (d,)
        True counts; they sum to the number of reports in a round.

    Returns
    -------
    float or None
        None if there is no report or the true distribution is uniform.
    """
    n, d = int(counts.sum()), counts.size
    if not n:
        return None
    rounds = [release.protocol.estimate(reports) for reports in release.reports]
    estimated = project_to_simplex(np.mean(rounds, axis=0), n)
    uniform_error = np.abs(counts - n / d).sum()
    return None if uniform_error == 0 else float(max(0.0, 1 - np.abs(estimated - counts).sum() / uniform_error))
