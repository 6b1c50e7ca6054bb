"""Pk attack that answers only after informative releases."""

from __future__ import annotations

from attacks.pram.best_posterior import BestPosterior, most_informative_pair
from metrics.columns import Floats, check_real


class LeakagePosterior(BestPosterior):
    """Pick the worst table, and abstain unless the posterior is close to the largest of any release.

    The win rate among its answers is about the largest that Pk-anonymity allows. With many records, sufficiently
    informative releases practically never occur.

    Parameters
    ----------
    share : float
        Share of 1/k that a posterior must reach, in (0, 1]; k is the matrix's exact Pk-anonymity.

    Raises
    ------
    ValueError
        If `share` lies outside (0, 1].

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game.
    """

    def __init__(self, *, share: float = 0.95) -> None:
        super().__init__()
        self.share = check_real("share", share, low=0, high=1, open_low=True)

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        _, _, ratio = most_informative_pair(matrix)
        # Rounding may put a posterior of exactly 1/k slightly below it.
        return best * (1 + 1e-9) >= self.share / (1 + (count - 1) / ratio)
