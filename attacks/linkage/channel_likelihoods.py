"""Likelihoods of a channel for candidates whom its domains may not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from defenses.base.channel import Channel
from defenses.base.channel_parts import Likelihood
from metrics.arrays import Booleans
from metrics.domains import Domain, NumericDomain


def stated_domains(channel: Channel | None) -> dict[str, Domain]:
    """Domains of the original values that a channel states, by column; empty without a channel."""
    return {} if channel is None else dict(channel.original_domains)


def outside(domain: Domain, values: pd.Series[Any]) -> Booleans:
    """Which values a domain does not hold, shape (n,); a missing value is none of them."""
    if isinstance(domain, NumericDomain):
        numbers = pd.to_numeric(values).to_numpy(dtype=float, na_value=np.nan)
        beyond = (numbers < domain.low) | (numbers > domain.high)
        return np.asarray(beyond | (domain.integer & np.isfinite(numbers) & (numbers != np.round(numbers))))
    codes, distinct = pd.factorize(values.astype(object), use_na_sentinel=True)
    known = set(domain.categories)
    return np.array([*(str(value) not in known for value in distinct), False], dtype=bool)[codes]


def channel_likelihoods(
    channel: Channel, released: pd.DataFrame, candidates: pd.DataFrame, domains: Mapping[str, Domain]
) -> dict[tuple[str, ...], Likelihood]:
    """Log-likelihoods by columns, as `Channel.likelihoods`, of candidates who need not be in the channel's domains.

    A part's domain is what its original values may be. A candidate whose value lies outside it is no original: its
    log-likelihood in that part is -inf. Parts without a domain (noise) say themselves how likely any value is.

    Parameters
    ----------
    channel : Channel
        What is public about the mechanism.
    released : DataFrame, shape (rows, columns)
        Released rows.
    candidates : DataFrame, shape (candidates, columns)
        Possible originals.
    domains : mapping of str to Domain
        For the columns that are released as they are.

    Raises
    ------
    ValueError
        If a part releases several columns of which one side lacks some, or cells cannot be read.
    """
    strange: dict[str, Booleans] = {}
    read = candidates
    for name, domain in stated_domains(channel).items():
        if name in candidates.columns and (beyond := outside(domain, candidates[name])).any():
            strange[name] = beyond
            # Every part can read a missing value.
            column = candidates[name] if isinstance(domain, NumericDomain) else candidates[name].astype(object)
            read = read.assign(**{name: column.mask(beyond, None)})
    return {
        columns: _ruled_out(part, [strange[name] for name in columns if name in strange])
        for columns, part in channel.likelihoods(released, read, dict(domains)).items()
    }


def _ruled_out(part: Likelihood, strange: list[Booleans]) -> Likelihood:
    """A part under which the candidates that stand in one of the masks are impossible."""
    if not strange:
        return part
    return replace(
        part,
        original=(*part.original, reduce(np.logical_or, strange)),
        kernel=lambda *sides: np.where(sides[-1], -np.inf, part.kernel(*sides[:-1])),
    )
