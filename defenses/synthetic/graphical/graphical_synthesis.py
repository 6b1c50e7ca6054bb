"""Base class of defenses that release rows drawn from a graphical model of noisy marginals."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from defenses.base.defense import MicrodataDefense, released_frame
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.queries import codes
from defenses.base.release import MicrodataRelease
from defenses.dp.composition import zcdp_rho
from defenses.dp.exponential import Exponential
from defenses.dp.mechanism import check_delta
from defenses.synthetic.graphical.measured_table import MeasuredTable
from defenses.synthetic.released_columns import check_public_domains, released_column
from metrics.arrays import Floats, Integers

NEGLIGIBLE = 30.0
"""Logarithm of the odds at which scores are no longer distinguished."""
INDEPENDENT = (
    "epsilon is too small to measure associations of this many records: "
    "the noise exceeds any of them, and all columns are released independently"
)


class GraphicalSynthesis(MicrodataDefense):
    """A defense that measures marginals with noise and releases rows of a graphical model fitted to them.

    There are as many rows as records. Numbers are counted by public bins and drawn uniformly inside a bin.

    Parameters
    ----------
    epsilon : float
        Privacy parameter epsilon, positive.
    delta : float
        Privacy parameter delta, in (0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if a released column has no declared domain.
    """

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6) -> None:
        check_real("epsilon", epsilon, low=2.0**-20, high=2.0**20)
        check_delta(delta)
        self.epsilon = epsilon
        self.delta = delta

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return epsilon and delta of the whole table."""
        self._check(records)
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement="one record replaced by any other, number of records and declared domains public",
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Measure marginals, fit the model and draw the rows."""
        self._check(records)
        frame = released_frame(records)
        names = records.released_columns
        if len(records) and names:
            domains = [records.domains[name] for name in names]
            table = MeasuredTable([codes(records, name) for name in names], tuple(domain.size for domain in domains))
            drawn = self._drawn(table, zcdp_rho(float(self.epsilon), float(self.delta)), names, rng)
            for name, domain, column in zip(names, domains, drawn, strict=True):
                frame[name] = released_column(domain, column, rng)
        return MicrodataRelease(frame, np.full(len(frame), -1), None)

    @abstractmethod
    def _drawn(self, table: MeasuredTable, rho: float, names: tuple[str, ...], rng: Generator) -> list[Integers]:
        """Position of each row's value in each column, spending at most `rho` of zero-concentrated privacy."""

    def _selected(self, scores: Floats, epsilon: float, sensitivity: float, runs: int, rng: Generator) -> Integers:
        """Positions of options chosen by independent runs of the exponential mechanism, shape (runs,).

        To use one of them costs rho = epsilon^2 / 8, also if public facts decide on which.

        Scores far below the highest are raised to where their probability relative to it is e^-30. Both a score and the
        highest score move by at most the sensitivity between neighbours, and so does the larger of the one and the
        other less a constant. Exact probabilities are then computed for few different scores.
        """
        scores = np.maximum(scores, scores.max() - 2 * sensitivity * NEGLIGIBLE / epsilon)
        # Rounding never makes the choice cost more than its share.
        return Exponential(epsilon=epsilon * (1 - 2.0**-50), sensitivity=sensitivity).repeated(scores, runs, rng)

    def _check(self, records: Microdata) -> None:
        """Raise ValueError unless the public domains fit this method."""
        check_public_domains(records)

    def _say_independent(self) -> None:
        """Warn that no association is measured. What is warned of follows from public numbers and noisy counts."""
        warnings.warn(f"{type(self).__name__}: {INDEPENDENT}", stacklevel=4)
