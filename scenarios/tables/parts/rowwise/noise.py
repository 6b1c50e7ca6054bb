"""Additive noise on numbers that are read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base.channel import Channel
from defenses.base.channel_parts import AddedNoise
from defenses.base.columns import plain_numbers, stored_alike
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics.columns.arrays import Floats
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import CellList, LargeRelease
from scenarios.tables.parts.rowwise.steps import code_counts, rowwise


@dataclass(frozen=True)
class Noisy:
    """A column to whose numbers noise is added.

    Parameters
    ----------
    part : AddedNoise
        The mechanism.
    numbers : ndarray, shape (codes,), optional
        Number of each code; None where blocks hold the numbers themselves.
    kind : dtype
        Type of the released numbers.
    """

    part: AddedNoise
    numbers: Floats | None = field(repr=False)
    kind: np.dtype[Any]

    @property
    def cells(self) -> Mapping[str, CellList]:
        """No list: the cells are numbers."""
        return {}

    @property
    def names(self) -> tuple[str, ...]:
        """The column."""
        return (self.part.column,)

    def release(self, block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        """Noisy numbers."""
        stored = block.columns[self.part.column]
        numbers = stored.astype(float) if self.numbers is None else self.numbers[stored]
        draw = rng.normal if self.part.distribution == "gaussian" else rng.laplace
        spread = self.part.deviation if self.part.distribution == "gaussian" else self.part.deviation / np.sqrt(2)
        return {self.part.column: self.part.publish(numbers + draw(0.0, spread, numbers.size)).astype(self.kind)}


def additive_noise(defense: AdditiveNoise, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Additive noise, with the deviations of the whole columns.

    Parameters
    ----------
    defense : AdditiveNoise
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    roles = records.roles
    defense.check(roles)
    steps = []
    for name in defense._names(roles):
        column, distinct = records.columns[name], plain_numbers(roles.frame[name])
        scale = defense.scale[name] if isinstance(defense.scale, Mapping) else defense.scale
        # Bounds and rounding follow from the distinct values; the deviation needs the number of each.
        part = defense._part(roles, name, distinct)
        if part.deviation > 0:
            part = replace(part, deviation=float(scale) * deviation(records, name))
        numbers = None if column.numbers_only else column.values.astype(float)
        whole = pd.api.types.is_integer_dtype(roles.frame[name]) and part.whole
        kind = stored_alike(np.zeros(1), roles.frame[name]).to_numpy().dtype if whole else np.dtype(float)
        steps.append(Noisy(part, numbers, kind))
    return rowwise(records, defense, root, steps, Channel(tuple(step.part for step in steps)))


def deviation(records: LargeRecords, name: str) -> float:
    """Standard deviation of the numbers of a column, without missing ones.

    It is summed in the order of the blocks, so that it is the same for any memory and number of cores.

    Parameters
    ----------
    records : LargeRecords
        The records.
    name : str
        A numeric column with at least one number.
    """
    column = records.columns[name]
    if not column.numbers_only:
        counts = code_counts(column)[: column.missing]
        numbers = column.values[: column.missing].astype(float)
        mean = np.average(numbers, weights=counts)
        return float(np.sqrt(np.average((numbers - mean) ** 2, weights=counts)))
    count, mean, squares = 0, 0.0, 0.0
    for block in records.blocks([name]):
        numbers = block.columns[name].astype(float)
        numbers = numbers[~np.isnan(numbers)]
        if not numbers.size:
            continue
        # Chan, Golub and LeVeque (1979): means and sums of squares of two parts combine exactly.
        difference, total = float(numbers.mean()) - mean, count + numbers.size
        squares += float(((numbers - numbers.mean()) ** 2).sum()) + difference**2 * count * numbers.size / total
        mean += difference * numbers.size / total
        count = total
    return float(np.sqrt(squares / count))
