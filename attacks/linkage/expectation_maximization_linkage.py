"""Linkage by expectation maximization."""

from __future__ import annotations

from numpy.random import Generator

from attacks.base.attack import Knowledge, NotApplicable
from attacks.base.sides import shared_columns, shared_table
from attacks.linkage.column_models import ColumnModels
from attacks.linkage.linkage_answers import Linkage, distance_posterior
from attacks.linkage.row_matching import matching_posterior
from defenses.base.parameters import check_integer, check_real
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats

# Rounds end when no share changes by more than this.
SETTLED = 2e-3


class ExpectationMaximizationLinkage(Linkage):
    """Linkage by expectation maximization: estimates the mechanism of each column while it matches.

    Model: the released cell of a record with value x covers x with probability a (kept), is x plus Gaussian noise of
    standard deviation s with probability b (numbers only), or is any released cell with probability c, a + b + c = 1.
    Expectation: the matching posterior under the current a, b, c, s of each column. Maximization: their shares and
    the noise's variance among expected matches. A column that was shuffled ends at c = 1 and carries no weight.

    The likelihood of noise is that of the interval between a number's neighbours that occur on either side. With
    intervals of one unit, every number that somebody has would be strong evidence that it was kept. Where numbers were
    swapped, one exact but shuffled column would then decide the matches. With seven columns swapped within a tenth of
    the ranks, 46 % of the rows were found with 90 % confidence, not 81 %.

    Where rows are equal in groups it falls below `NearestNeighbour` (`GroupLinkage` does not). Its confidences are too
    high (.2) where nothing can be found because all columns were shuffled. They are too low (.04, not .12) where most
    cells are suppressed.

    Parameters
    ----------
    iterations : int
        Largest number of rounds. It stops earlier when no share changes by more than .002. More than 12 rounds found
        no more of the bank's customers.
    sharpness : float
        The first posterior falls by ``exp(-sharpness * Gower distance)``.

    References
    ----------
    Winkler (1988), Using the EM algorithm for weight computation in the Fellegi-Sunter model; Dempster, Laird and
    Rubin (1977).
    """

    def __init__(self, *, iterations: int = 12, sharpness: float = 100.0) -> None:
        self.iterations = iterations
        self.sharpness = sharpness
        check_integer("iterations", iterations, low=1)
        check_real("sharpness", sharpness, low=0, open_low=True)

    def evidence(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Floats:
        """Log-likelihood of each row under each candidate after the last round, shape (rows, candidates).

        Raises
        ------
        NotApplicable
            If the release has no row to learn from.
        """
        if not len(release.frame):
            raise NotApplicable("the release has no row")
        name = (ExpectationMaximizationLinkage, self.iterations, self.sharpness)
        return shared_table(release, knowledge, name, lambda: self._learned(release, knowledge))

    def _learned(self, release: MicrodataRelease, knowledge: Knowledge) -> Floats:
        models = ColumnModels(shared_columns(release, knowledge))
        moved = models.maximize(distance_posterior(release, knowledge, self.sharpness))
        for _ in range(self.iterations - 1):
            if moved < SETTLED:
                break
            moved = models.maximize(matching_posterior(models.log_likelihood()))
        return models.log_likelihood()
