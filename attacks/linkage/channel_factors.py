"""Log-likelihoods of a channel as tables over distinct cells and values, for fast evaluation of many pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import Channel, Likelihood
from metrics.columns import (
    Array,
    Booleans,
    Domain,
    Floats,
    Integers,
    Integers32,
    NumericDomain,
    Singles,
    chunks,
    numbers_of,
)

# Log-likelihoods of a channel for candidates with values outside its domains.


def stated_domains(channel: Channel | None) -> dict[str, Domain]:
    """Domains of the original values that the channel declares, by column; empty without a channel."""
    return {} if channel is None else dict(channel.original_domains)


def outside(domain: Domain, values: pd.Series[Any]) -> Booleans:
    """Return whether each value lies outside the domain, shape (n,); missing values do not."""
    if isinstance(domain, NumericDomain):
        numbers = numbers_of(values)
        beyond = (numbers < domain.low) | (numbers > domain.high)
        return np.asarray(beyond | (domain.integer & np.isfinite(numbers) & (numbers != np.round(numbers))))
    codes, distinct = pd.factorize(values.astype(object), use_na_sentinel=True)
    categories = set(domain.categories)
    return np.array([*(str(value) not in categories for value in distinct), False], dtype=bool)[codes]


def channel_likelihoods(
    channel: Channel, released: pd.DataFrame, candidates: pd.DataFrame, domains: Mapping[str, Domain]
) -> dict[tuple[str, ...], Likelihood]:
    """Log-likelihoods by columns, as `Channel.likelihoods`, of candidates with values outside the channel's domains.

    The domain of a channel's part contains all possible original values. A candidate with a value outside it cannot be
    an original: its log-likelihood in that part is -inf. Parts without a domain, such as noise, give every value a
    likelihood. A cell that cannot be read raises a ValueError. So does a part that releases several columns jointly, if
    one side lacks some.

    `domains` are those of the columns that are released unchanged.
    """
    outsiders: dict[str, Booleans] = {}
    readable = candidates
    for name, domain in stated_domains(channel).items():
        if name in candidates.columns and (beyond := outside(domain, candidates[name])).any():
            outsiders[name] = beyond
            # Missing values stand in for the values outside the domain, since every part can read them.
            column = candidates[name] if isinstance(domain, NumericDomain) else candidates[name].astype(object)
            readable = readable.assign(**{name: column.mask(beyond, None)})
    return {
        columns: _without_outsiders(part, [outsiders[name] for name in columns if name in outsiders])
        for columns, part in channel.likelihoods(released, readable, dict(domains)).items()
    }


def _without_outsiders(part: Likelihood, outsiders: list[Booleans]) -> Likelihood:
    """The part with log-likelihood -inf for candidates in one of the masks."""
    if not outsiders:
        return part
    return replace(
        part,
        original=(*part.original, reduce(np.logical_or, outsiders)),
        kernel=lambda *sides: np.where(sides[-1], -np.inf, part.kernel(*sides[:-1])),
    )


# Lower bound of the log-likelihood in a column. Impossible pairs are thereby ranked by the number of columns in which
# they are impossible, and an assignment exists even if the candidates contradict the release.
IMPOSSIBLE = -1000.0
# A table over distinct cells and values is exact up to FINE entries. Larger ones use representatives where the
# log-likelihood is smooth. Others stay exact up to LARGEST entries and are computed pair by pair beyond.
FINE, LARGEST = 2**21, 2**26
# Number of representatives of the cells, and of the values, of a smooth column.
REPRESENTATIVES = 1024


@dataclass(frozen=True)
class TableFactor:
    """A part as a table over distinct cells and values, or over representatives of them.

    - table, shape (cells, values): Log-likelihoods.
    - cells, shape (rows,): Table row of each released row.
    - values, shape (candidates,): Table column of each candidate.
    """

    table: Singles
    cells: Integers
    values: Integers

    def block(self, rows: Integers, candidates: Integers) -> Singles:
        """Log-likelihood of each of the rows under each of the candidates, shape (rows, candidates)."""
        # Two gathers are four times as fast as one by both codes at once.
        return np.take(np.take(self.table, self.cells[rows], axis=0), self.values[candidates], axis=1)


@dataclass(frozen=True)
class PairFactor:
    """A part that is computed pair by pair."""

    likelihood: Likelihood

    def block(self, rows: Integers, candidates: Integers) -> Singles:
        """Log-likelihood of each of the rows under each of the candidates, shape (rows, candidates)."""
        exact = self.likelihood.at(rows[:, None], candidates[None, :])
        return np.maximum(exact, IMPOSSIBLE).astype(np.float32)


# How log-likelihoods of pairs in a column, or in several that are released jointly, are computed.
Factor = TableFactor | PairFactor


def coded(likelihood: Likelihood) -> Factor:
    """Encode a part of a channel: exactly if it has few distinct pairs, approximately if it is smooth.

    A part counts as smooth if more than half of all pairs are possible, as under noise or group means. Its cells and
    its values are then replaced by about 1,000 representatives each. Half of these are quantiles. The other half are
    evenly spaced, since the tails matter most.
    """
    left, cells = _distinct(likelihood.released)
    right, values = _distinct(likelihood.original)
    if left.shape[0] * right.shape[0] > FINE:
        cell_kinds, value_kinds = _representatives(left, cells), _representatives(right, values)
        table = _tabulated(likelihood, left[cell_kinds[0]], right[value_kinds[0]])
        if (table > IMPOSSIBLE).mean() > 0.5:
            return TableFactor(table, cell_kinds[1][cells], value_kinds[1][values])
        if left.shape[0] * right.shape[0] > LARGEST:
            return PairFactor(likelihood)
    return TableFactor(_tabulated(likelihood, left, right), cells, values)


def total(factors: Iterable[Factor], rows: Integers, candidates: Integers) -> Singles:
    """Total log-likelihood of each row under each candidate, shape (rows, candidates)."""
    result = np.zeros((rows.size, candidates.size), dtype=np.float32)
    for factor in factors:
        result += factor.block(rows, candidates)
    return result


def at_pairs(likelihoods: Iterable[Likelihood], rows: Integers, candidates: Integers32 | Integers) -> Floats:
    """Exact total log-likelihoods of pairs, with row and candidate positions broadcast; >= `IMPOSSIBLE` per part."""
    parts = (np.maximum(likelihood.at(rows, candidates), IMPOSSIBLE) for likelihood in likelihoods)
    return np.asarray(sum(parts, np.zeros(np.broadcast_shapes(rows.shape, candidates.shape))))


def _distinct(side: tuple[Array, ...]) -> tuple[Array, Integers]:
    """Distinct rows of one side, ascending by its first array, and the index of each row among them."""
    stacked = np.column_stack(side)
    if stacked.shape[1] == 1:
        distinct, codes = np.unique(stacked[:, 0], return_inverse=True)
        return distinct[:, None], codes
    kinds = np.unique(stacked, axis=0, return_inverse=True)
    return kinds[0], kinds[1].ravel()


def _tabulated(likelihood: Likelihood, left: Array, right: Array) -> Singles:
    """Log-likelihoods of distinct cells under distinct values, computed in chunks to bound memory."""
    table = np.empty((left.shape[0], right.shape[0]), dtype=np.float32)
    values = [column[None, :] for column in right.T]
    for rows in chunks(left.shape[0], right.shape[0], 2**18):
        table[rows] = np.maximum(likelihood.kernel(*(column[:, None] for column in left[rows].T), *values), IMPOSSIBLE)
    return table


def _representatives(kinds: Array, codes: Integers) -> tuple[Integers, Integers]:
    """Indices of the representatives among the distinct rows, and the nearest representative of each distinct row.

    A row whose first entry is not finite represents itself.
    """
    key = kinds[:, 0].astype(float)
    finite = np.flatnonzero(np.isfinite(key))
    if finite.size <= REPRESENTATIVES:
        return np.arange(key.size), np.arange(key.size)
    count = np.bincount(codes, minlength=key.size)[finite]
    shares = np.searchsorted(np.cumsum(count), np.linspace(0, count.sum(), REPRESENTATIVES // 2 + 1)[1:])
    steps = np.searchsorted(key[finite], np.linspace(key[finite[0]], key[finite[-1]], REPRESENTATIVES // 2))
    chosen = np.unique(np.minimum(np.concatenate([shares, steps]), finite.size - 1))
    others = np.flatnonzero(~np.isfinite(key))
    nearest = np.empty(key.size, dtype=np.intp)
    middles = (key[finite[chosen]][1:] + key[finite[chosen]][:-1]) / 2
    nearest[finite] = np.searchsorted(middles, key[finite])
    nearest[others] = chosen.size + np.arange(others.size)
    return np.concatenate([finite[chosen], others]), nearest
