"""Transition matrix of a column that a release discloses, and released cells as its categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from attacks.base.attack import NotApplicable, applicable, disclosed_channel
from defenses.base import Channel, MicrodataRelease
from defenses.base.channel_parts import ReportAmongFakes, ReportedNumber, ReportedSet
from metrics.columns import Domain, Floats, Integers, NumericDomain, escape


def column_matrix(channel: Channel | None, column: str, domain: Domain) -> Floats:
    """Transition matrix of a column: the probability of each released category or bin under each original one.

    Parameters
    ----------
    channel : Channel, optional
        The channel that the release discloses.
    column : str
        The column, which the channel must not release jointly with others.
    domain : Domain
        Its categories or public bins.

    Returns
    -------
    ndarray, shape (d, d)
        Rows are released categories, columns are original ones; columns sum to 1.

    Raises
    ------
    NotApplicable
        If there is no channel, or it has no transition matrix of the column over the domain's categories.
    """
    channel = disclosed_channel(channel)
    released = pd.DataFrame({column: pd.Series(_cells(domain), dtype=object)})
    original = pd.DataFrame({column: values(domain)})
    try:
        likelihood = channel.likelihoods(released, original, {column: domain})[column,]
    except (ValueError, KeyError) as error:
        raise NotApplicable(f"the channel has no matrix of column {column!r}: {error}") from None
    matrix = np.exp(likelihood.table())
    applicable(
        np.allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-9),
        f"the channel of column {column!r} is no transition matrix of its {domain.size} categories",
    )
    return matrix


def report_likelihoods(release: MicrodataRelease, column: str, domain: Domain) -> Floats | None:
    """Likelihood of each row's cell under each category or bin, for a column of reports; shape (rows, d).

    It is known up to a factor for each row. Returns None without a channel, or where the channel releases the column
    otherwise than by reports.
    """
    for part in () if release.channel is None else release.channel.parts:
        if isinstance(part, ReportedNumber) and part.column == column:
            logs = part.bin_log_likelihoods(release.frame[column])[:, : domain.size]
            return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))
        if column in part.columns and isinstance(part, ReportedSet | ReportAmongFakes):
            usable = part if len(part.columns) == 1 else part.restricted([column])
            original = pd.DataFrame({column: values(domain)})
            return None if usable is None else np.exp(usable.bind(release.frame, original).table())
    return None


def values(domain: Domain) -> pd.Series[Any]:
    """One original value for each category or bin, in the domain's order."""
    if isinstance(domain, NumericDomain):
        return pd.Series([domain.low, *domain.cuts])
    return pd.Series(domain.categories, dtype=object)


def cell_codes(column: pd.Series[Any], domain: Domain) -> Integers:
    """Category or bin of each released cell, shape (n,).

    Raises
    ------
    NotApplicable
        If a cell is not one of them. The message names the column and the row, from 0.
    """
    codes = pd.Index(_cells(domain), dtype=object).get_indexer(pd.Index(column, dtype=object))
    wrong = np.flatnonzero(codes < 0)
    if wrong.size:
        raise NotApplicable(f"column {column.name!r}, row {wrong[0]}: the cell is no category of the column's domain")
    return codes


def _cells(domain: Domain) -> list[str]:
    return domain.cells() if isinstance(domain, NumericDomain) else [escape(name) for name in domain.categories]
