"""The Pk game's patient adversary: it answers on informative releases only."""

from __future__ import annotations

from attacks.pram.best_posterior import BestPosterior, most_informative_pair
from defenses.base.parameters import check_real
from metrics.arrays import Floats


class LeakagePosterior(BestPosterior):
    """Picks the worst table and abstains unless the posterior comes near the most that any release can give.

    So it wins about as often as Pk-anonymity allows among the answers that it gives; with many records a release that
    is informative enough practically never comes.

    Parameters
    ----------
    share : float
        In (0, 1]: which share of 1/k, k that of the matrix, a posterior must reach.

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
        check_real("share", share, low=0, high=1, open_low=True)
        self.share = share

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        _, _, ratio = most_informative_pair(matrix)
        # A posterior of exactly 1/k may come out a rounding below it.
        return best * (1 + 1e-9) >= self.share / (1 + (count - 1) / ratio)
