"""Additive noise on numbers that are read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses import AdditiveNoise, Channel
from defenses.base import plain_numbers, stored_alike
from defenses.base.channel_parts import AddedNoise
from metrics.columns import Floats
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.parts.rowwise.steps import Step, code_counts, rowwise


def noisy(part: AddedNoise, numbers: Floats | None, kind: np.dtype[Any]) -> Step:
    """Step of a column to whose numbers noise is added.

    Parameters
    ----------
    part : AddedNoise
        The mechanism.
    numbers : ndarray, shape (codes,), optional
        Number of each code; None where blocks hold the numbers themselves.
    kind : dtype
        Type of the released numbers.
    """

    def release(block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        stored = block.columns[part.column]
        exact = stored.astype(float) if numbers is None else numbers[stored]
        draw = rng.normal if part.distribution == "gaussian" else rng.laplace
        spread = part.deviation if part.distribution == "gaussian" else part.deviation / np.sqrt(2)
        return {part.column: part.publish(exact + draw(0.0, spread, exact.size)).astype(kind)}

    return Step((part.column,), {}, release)


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
    steps, parts = [], []
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
        parts.append(part)
        steps.append(noisy(part, numbers, kind))
    return rowwise(records, defense, root, steps, Channel(tuple(parts)))


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
