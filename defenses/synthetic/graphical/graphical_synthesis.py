"""Base class of defenses that release rows drawn from a graphical model of noisy marginals."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Guarantee,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    category_cells,
    codes,
    released_frame,
)
from defenses.dp import Exponential, zcdp_rho
from defenses.dp.mechanism import check_delta
from defenses.synthetic.graphical.clique_tree import Columns, model_cells
from defenses.synthetic.graphical.estimation import MeasuredTable
from defenses.synthetic.mixed_column import Drawn
from defenses.synthetic.row_synthesizer import (
    Inside,
    StructuralZero,
    Zeros,
    check_public_domains,
    check_structural_zeros,
    numbers_inside,
    possible_rows,
    structural_zeros,
)
from metrics.columns import Booleans, Floats, Integers, NumericDomain, check_real

DrawnCodes = Callable[[int, Generator], list[Integers]]
"""``draw(rows, rng)``: position of the value of new rows in each column, one array of shape (rows,) for each."""
NEGLIGIBLE = 30.0
"""Logarithm of the odds at which scores are no longer distinguished."""
MOST_RULE_CELLS = 100_000
"""Largest number of cells of a junction tree of the columns of structural zeros; rules beyond it only redraw rows."""
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
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. They are public. Rows that
        hold one are drawn again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if a released column has no declared domain.
        On `apply`, if a structural zero cannot be read or avoided.
    """

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, structural_zeros: Zeros = ()) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=2.0**-20, high=2.0**20)
        self.delta = check_delta(delta)
        self.structural_zeros = check_structural_zeros(structural_zeros)

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
        return self.released(records, Fraction(self.rho), {}, rng)

    @property
    def rho(self) -> float:
        """The budget: the largest rho of zero-concentrated privacy that gives epsilon and delta."""
        return zcdp_rho(float(self.epsilon), float(self.delta))

    def released(
        self, records: Microdata, rho: Fraction, inside: Mapping[str, Inside], rng: Generator
    ) -> MicrodataRelease:
        """Release rows at a cost of at most `rho`; a larger mechanism may spend the rest of the budget itself.

        Parameters
        ----------
        records : Microdata
            The records, with public bins or bins that follow from noisy counts.
        rho : Fraction
            Budget of zero-concentrated privacy.
        inside : mapping of str to callable
            What draws the numbers of a column inside its bins; by default they are uniform.
        rng : Generator
            Source of randomness.
        """

        def fit(table: MeasuredTable) -> DrawnCodes:
            return self._fitted(table, _at_most(rho), records.released_columns, rng)

        return drawn_release(records, self.structural_zeros, fit, inside, rng)

    @abstractmethod
    def _fitted(self, table: MeasuredTable, rho: float, names: tuple[str, ...], rng: Generator) -> DrawnCodes:
        """Fit the model at a cost of at most `rho` of zero-concentrated privacy, and return what draws rows from it."""

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
        """Raise ValueError unless the public domains and structural zeros fit this method."""
        check_public_domains(records, self.structural_zeros)

    def _say_independent(self) -> None:
        """Warn that no association is measured. What is warned of follows from public numbers and noisy counts."""
        warnings.warn(f"{type(self).__name__}: {INDEPENDENT}", stacklevel=6)


def drawn_release(
    records: Microdata,
    impossible: Zeros,
    fit: Callable[[MeasuredTable], DrawnCodes],
    inside: Mapping[str, Inside],
    rng: Generator,
) -> MicrodataRelease:
    """Release rows that a model of the counted records draws, without those that are impossible.

    Parameters
    ----------
    records : Microdata
        The records, with public domains.
    impossible : sequence of mapping of str to str
        Structural zeros.
    fit : callable
        Fits the model to at least one column of at least one record, and returns what draws rows from it.
    inside : mapping of str to callable
        What draws the numbers of a column inside its bins; by default they are uniform.
    rng : Generator
        Source of randomness.
    """
    frame = released_frame(records)
    names = records.released_columns
    if len(records) and names:
        domains = [records.domains[name] for name in names]
        sizes = tuple(domain.size for domain in domains)
        zeros = structural_zeros(records, impossible)
        table = MeasuredTable([codes(records, name) for name in names], sizes, _impossible(zeros, names, sizes))
        model = fit(table)

        def draw(rows: int, rng: Generator) -> list[Drawn]:
            return [
                inside.get(name, partial(numbers_inside, domain))(drawn, rng)
                if isinstance(domain, NumericDomain)
                else drawn
                for name, domain, drawn in zip(names, domains, model(rows, rng), strict=True)
            ]

        values = possible_rows(draw, names, zeros, len(records), rng)
        for name, domain in zip(names, domains, strict=True):
            numeric = isinstance(domain, NumericDomain)
            frame[name] = pd.Series(values[name] if numeric else category_cells(domain)[values[name]])
    return MicrodataRelease(frame, np.full(len(frame), -1), None)


def _impossible(
    zeros: Sequence[StructuralZero], names: tuple[str, ...], sizes: tuple[int, ...]
) -> dict[Columns, Booleans]:
    """Impossible cells of each set of columns that a rule names, as long as the model stays small with all of them."""
    result: dict[Columns, Booleans] = {}
    for zero in zeros:
        columns = tuple(number for number, name in enumerate(names) if name in zero.cells)
        if model_cells(sizes, [*result, columns]) <= MOST_RULE_CELLS:
            cells = zero.cells_of(names)
            if cells.any() and not cells.all():
                result[columns] = result.get(columns, cells) | cells
    return result


def _at_most(rho: Fraction) -> float:
    """The largest float that is at most `rho`."""
    nearest = float(rho)
    return nearest if Fraction(nearest) <= rho else math.nextafter(nearest, 0.0)
