"""Group representatives: mean, median or mode of each group, released for all of its records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import (
    Channel,
    ChannelPart,
    CodedColumn,
    GroupMean,
    GroupMode,
    KAnonymousDefense,
    Microdata,
    MicrodataRelease,
    category_cells,
    code_column,
    released_frame,
    rowwise_release,
    stored_alike,
)
from metrics.classes import count_pairs, group_starts
from metrics.columns import CategoricalDomain, Domain, Floats, Integers, NumericDomain, check_choice

REPRESENTATIVES = ("mean", "median", "mode")
"""What a group may release: its mean, its lower median, or its mode (the smallest one if there are several)."""


class RepresentativeDefense(KAnonymousDefense):
    """Base of defenses that replace the values in groups of at least k records by one of `REPRESENTATIVES`.

    A ValueError is raised if `k` is not an integer of at least 1 or the representative is unknown.
    """

    def __init__(self, *, k: int = 5, columns: Sequence[str] | None = None, representative: str = "mean") -> None:
        super().__init__(k=k, columns=columns)
        self.representative = check_choice("representative", representative, REPRESENTATIVES)


@dataclass(frozen=True)
class GroupedColumn(ABC):
    """A column in which every group releases one representative.

    - original, shape (n,): The column as the publisher holds it.
    """

    original: pd.Series[Any]
    domain: Domain

    @property
    def name(self) -> str:
        """The column's name."""
        return str(self.original.name)

    @abstractmethod
    def replaced(self, groups: Integers, representative: str = "mean") -> tuple[pd.Series[Any], ChannelPart | None]:
        """Replace the values by the representatives of their groups.

        Returned are the released cells, shape (n,), and the channel of the column, None if it has none.

        - groups, shape (n,): Group of each record, from 0 without gaps.
        - representative: One of `REPRESENTATIVES`.
        """


@dataclass(frozen=True)
class GroupedNumbers(GroupedColumn):
    """A numeric column, represented by mean, lower median or mode.

    - numbers, shape (n,): The values; NaN where missing.
    """

    domain: NumericDomain
    numbers: Floats

    def standardized(self) -> Floats:
        """Standard scores of the numbers, shape (n,); 0 where missing, and everywhere if all numbers are equal."""
        centered = self.numbers - np.nanmean(self.numbers)
        deviation = float(np.nanstd(self.numbers))
        return np.nan_to_num(centered / deviation) if deviation > 0 else np.zeros_like(centered)

    def replaced(self, groups: Integers, representative: str = "mean") -> tuple[pd.Series[Any], GroupMean | None]:
        """Release representatives, integers in integer domains; no channel if only part of a group is missing."""
        choose = {"mean": group_means, "median": group_medians, "mode": group_frequent}[representative]
        values = choose(self.numbers, groups)
        released = (np.rint(values) if self.domain.integer else values)[groups]
        mixed = bool((np.isnan(self.numbers) & ~np.isnan(released)).any())
        deviation = float(np.sqrt(np.nanmean((self.numbers - released) ** 2)))
        part = None if mixed else GroupMean(self.name, self.domain, deviation)
        return stored_alike(released, self.original), part


@dataclass(frozen=True)
class GroupedCategories(GroupedColumn):
    """A categorical column, represented by its mode, or by the lower median in ordered domains.

    - codes, shape (n,): Position of each value in the domain; its size where missing.
    """

    domain: CategoricalDomain
    codes: Integers

    def replaced(self, groups: Integers, representative: str = "mean") -> tuple[pd.Series[Any], GroupMode]:
        """Release representatives; the channel holds the share of records that keep their category."""
        if representative == "median" and self.domain.ordered:
            present = np.where(self.codes < self.domain.size, self.codes, np.nan)
            released_codes = np.nan_to_num(group_medians(present, groups), nan=self.domain.size).astype(np.intp)[groups]
        else:
            released_codes = group_modes(self.codes, groups, self.domain.size + 1)[groups]
        agreement = float((released_codes == self.codes).mean())
        released = pd.Series(category_cells(self.domain)[released_codes], dtype=object)
        return released, GroupMode(self.name, self.domain, agreement)


def grouped_column(original: pd.Series[Any], domain: Domain, coded: CodedColumn) -> GroupedNumbers | GroupedCategories:
    """Return a column of the kind of its domain, given its codes by that domain; it holds at least one value."""
    if isinstance(domain, NumericDomain):
        return GroupedNumbers(original, domain, coded.by_record())
    return GroupedCategories(original, domain, coded.codes)


def read_grouped_column(records: Microdata, name: str) -> GroupedNumbers | GroupedCategories:
    """Read a column with at least one value; the kind of its domain decides the kind of column.

    If a value is no finite number or no category of the domain, a ValueError names the column.
    """
    original, domain = records.frame[name], records.domain(name)
    return grouped_column(original, domain, code_column(original, domain))


def release_representatives(
    records: Microdata, columns: Sequence[GroupedNumbers | GroupedCategories], groups: Integers, representative: str
) -> MicrodataRelease:
    """Release the records with the values of these columns replaced by representatives.

    - groups, shape (n,): Group of each record, from 0 without gaps.
    - representative: One of `REPRESENTATIVES`.
    """
    return release_replaced(records, {column.name: column.replaced(groups, representative) for column in columns})


def release_replaced(
    records: Microdata, replaced: Mapping[str, tuple[pd.Series[Any], ChannelPart | None]]
) -> MicrodataRelease:
    """Release the records with replaced columns; without a channel if one of these columns has no channel part.

    - replaced: Released cells and channel part of each replaced column.
    """
    frame = released_frame(records, {name: cells for name, (cells, _) in replaced.items()})
    parts = tuple(part for _, part in replaced.values() if part is not None)
    return rowwise_release(frame, Channel(parts) if len(parts) == len(replaced) else None)


def group_means(values: Floats, groups: Integers) -> Floats:
    """Mean of each group; NaN for a group without numbers.

    - values, shape (n,): Numbers; NaN where missing.
    - groups, shape (n,): Group of each number, from 0 without gaps.
    """
    present = ~np.isnan(values)
    size = int(groups.max()) + 1
    total = np.bincount(groups[present], weights=values[present], minlength=size)
    with np.errstate(invalid="ignore"):
        means: Floats = total / np.bincount(groups[present], minlength=size)
    return means


def group_medians(values: Floats, groups: Integers) -> Floats:
    """Lower median of each group; NaN for a group without numbers. Parameters are those of `group_means`."""
    order = np.lexsort((values, groups))
    total, present = np.bincount(groups), np.bincount(groups, weights=~np.isnan(values)).astype(np.intp)
    # Missing values sort last, so the first value of a group without numbers is missing.
    middle = np.cumsum(total) - total + np.maximum(present - 1, 0) // 2
    return np.asarray(values[order[middle]])


def group_frequent(values: Floats, groups: Integers) -> Floats:
    """Mode of each group, the smallest one if there are several. Parameters are those of `group_means`."""
    present = ~np.isnan(values)
    frequent = np.full(int(groups.max()) + 1, np.nan)
    distinct, codes = np.unique(values[present], return_inverse=True)
    frequent[np.unique(groups[present])] = distinct[group_modes(codes, groups[present], distinct.size)]
    return frequent


def group_modes(codes: Integers, groups: Integers, code_count: int) -> Integers:
    """Mode of each group's codes, the smallest one if there are several; `codes` and `groups` have shape (n,).

    The groups with a code count, in ascending order.
    """
    group, code, count = count_pairs(groups, codes, int(groups.max(initial=-1)) + 1, code_count)
    ranked = np.lexsort((code, -count, group))
    return code[ranked[group_starts(group)]]
