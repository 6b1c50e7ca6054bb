"""Matrices of any form on the bank's columns: what they reach, and how far the A-type falls short."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from defenses.pram import freedom
from defenses.pram.conversions import retention_for_epsilon
from defenses.pram.matrix import transition_matrix
from defenses.pram.optimal import optimal_retention
from metrics.arrays import Floats
from scenarios.datasets import load

EPSILONS = (1.0, 2.0, 4.0)
COLUMNS = ("marital", "education")


@dataclass(frozen=True)
class ProtocolMeasures:
    """Utility of one protocol for one histogram.

    Attributes
    ----------
    name : str
        The protocol.
    epsilon : float
        The epsilon it was made for.
    distance : float or None
        Distance of the expected release from the histogram; None where reports are no categories.
    error : float or None
        Root of the expected squared distance between unbiased estimate and histogram; None without such an estimate.
    bits : float
        Mutual information of a record with its report, in bits.
    """

    name: str
    epsilon: float
    distance: float | None
    error: float | None
    bits: float


@dataclass(frozen=True)
class ColumnLimits:
    """Protocols for one column.

    Attributes
    ----------
    column : str
        The column.
    counts : ndarray, shape (d,)
        Its histogram.
    protocols : tuple of ProtocolMeasures
        In ascending order of epsilon.
    """

    column: str
    counts: Floats
    protocols: tuple[ProtocolMeasures, ...]


def measure_limits() -> tuple[ColumnLimits, ...]:
    """Compare protocols on the bank's marital status and education, at a few epsilons."""
    records = load("bank").records
    limits = []
    for column in COLUMNS:
        domain = records.domain(column)
        codes = domain.codes(records.frame[column])
        counts = np.bincount(codes, minlength=domain.size)[: domain.size].astype(float)
        measures = [one for epsilon in EPSILONS for one in _protocol_measures(counts, epsilon)]
        limits.append(ColumnLimits(column, counts, tuple(measures)))
    return tuple(limits)


def _protocol_measures(counts: Floats, epsilon: float) -> list[ProtocolMeasures]:
    d = counts.size
    protocols = {
        "every column the histogram": freedom.degenerate_matrix(counts),
        "optimal A-type": transition_matrix(optimal_retention(counts, epsilon)),
        "retention-replacement": transition_matrix(np.full(d, retention_for_epsilon(epsilon, d))),
        "subset selection": freedom.subset_selection(d, epsilon),
        "least error": freedom.least_variance_protocol(counts, epsilon),
        "most bits": freedom.most_informative_matrix(counts, epsilon),
    }
    return [_measured(name, epsilon, protocol, counts) for name, protocol in protocols.items()]


def _measured(name: str, epsilon: float, protocol: Floats, counts: Floats) -> ProtocolMeasures:
    square = len(protocol) == counts.size
    distance = float(np.linalg.norm(protocol @ counts - counts)) if square else None
    variance = freedom.estimation_variance(protocol, counts)
    error = float(np.sqrt(variance)) if np.isfinite(variance) else None
    bits = freedom.mutual_information(protocol, counts) / float(np.log(2))
    return ProtocolMeasures(name, epsilon, distance, error, bits)
