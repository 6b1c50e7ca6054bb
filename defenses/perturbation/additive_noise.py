"""Additive noise for numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    AddedNoise,
    Block,
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    Step,
    check_number_or_numbers,
    numeric_columns,
    plain_numbers,
    stored_alike,
)
from metrics.columns import NumericDomain, check_choice


class AdditiveNoise(BlockwiseDefense):
    """Independent noise of mean zero is added to numbers.

    Sums are rounded where only integers occur, and clamped to the bounds where a domain is declared. A missing value
    stays missing, and a constant column gets no noise.

    Parameters
    ----------
    scale : float or mapping of str to float
        Standard deviation of the noise as a multiple of the column's standard deviation; one for all columns, or one
        for each by name.
    distribution : {"gaussian", "laplace"}
        Distribution of the noise.
    columns : sequence of str, optional
        Columns with numbers; by default those that `scale` names, or else all numeric quasi-identifiers.

    Raises
    ------
    ValueError
        If a scale is negative, the distribution is unknown, or both `columns` and a mapping are given.

    References
    ----------
    Brand (2002), "Microdata protection through noise addition", uncorrelated noise.
    """

    called = ("Additive noise", "Noise addition")

    needs: Needs = "histograms"

    def __init__(
        self,
        *,
        scale: float | Mapping[str, float] = 0.5,
        distribution: str = "gaussian",
        columns: Sequence[str] | None = None,
    ) -> None:
        self.distribution = check_choice("distribution", distribution, ("gaussian", "laplace"))
        self.scale = check_number_or_numbers("scale", scale, columns, low=0)
        self.columns = columns

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Measure the deviation of each column."""
        parts = [self._part(records, name) for name in self._names(records.counted)]
        return ReleasePlan([_noisy(records, part) for part in parts], Channel(tuple(parts)))

    def check(self, records: Microdata) -> None:
        """Check that the columns exist and hold numbers."""
        for name in self._names(records):
            plain_numbers(records.frame[name])

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return no guarantee, and a statement of the reason."""
        return Guarantee(
            statement="none: the noise is scaled by the spread of the records themselves, not by a public bound on "
            "what one record can change"
        )

    def _names(self, records: Microdata) -> tuple[str, ...]:
        return numeric_columns(records, tuple(self.scale) if isinstance(self.scale, Mapping) else self.columns)

    def _part(self, records: RecordsInBlocks, name: str) -> AddedNoise:
        scale = self.scale[name] if isinstance(self.scale, Mapping) else self.scale
        deviation = float(scale * records.deviation(name))
        domain = records.counted.domains.get(name)
        if isinstance(domain, NumericDomain):
            low, high = float(domain.low), float(domain.high)
            if domain.integer:
                low, high = float(np.ceil(low)), float(np.floor(high))
            return AddedNoise(name, self.distribution, deviation, domain.integer, low, high)
        numbers = plain_numbers(records.counted.frame[name])
        numbers = numbers[~np.isnan(numbers)]
        integer = bool((numbers == np.rint(numbers)).all())
        return AddedNoise(name, self.distribution, deviation, integer, -np.inf, np.inf)


def _noisy(records: RecordsInBlocks, part: AddedNoise) -> Step:
    """Step that adds noise to the numbers of a column."""
    name, column = part.column, records.counted.frame[part.column]
    kind = stored_alike(np.zeros(1), column).to_numpy().dtype if part.whole else np.dtype(float)
    spread = part.deviation if part.distribution == "gaussian" else part.deviation / np.sqrt(2)

    def release(block: Block, rng: Generator) -> dict[str, NDArray[Any]]:
        draw = rng.normal if part.distribution == "gaussian" else rng.laplace
        return {name: part.publish(block.numbers(name) + draw(0.0, spread, len(block))).astype(kind)}

    return Step((name,), {}, release)
