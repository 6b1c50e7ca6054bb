"""Log-likelihoods of a channel for candidates with values outside its domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from defenses.base.channel import Channel
from defenses.base.channel_parts import Likelihood
from metrics.columns.arrays import Booleans
from metrics.columns.domains import Domain, NumericDomain
from metrics.columns.values import numbers_of


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

    The domain of a channel's part contains all possible original values. A candidate with a value outside it cannot
    be an original: its log-likelihood in that part is -inf. Parts without a domain, such as noise, give every value a
    likelihood.

    Parameters
    ----------
    channel : Channel
        The public description of the mechanism.
    released : DataFrame, shape (rows, columns)
        Released rows.
    candidates : DataFrame, shape (candidates, columns)
        Possible originals.
    domains : mapping of str to Domain
        Domains of the columns that are released unchanged.

    Raises
    ------
    ValueError
        If a part releases several columns jointly and one side lacks some of them, or a cell cannot be read.
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
