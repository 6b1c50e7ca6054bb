"""Apple's pipeline of local differential privacy: devices, an ingestor, an aggregator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.parameters import check_real
from defenses.ldp.frequency_oracle import FrequencyOracle
from defenses.ldp.report_batch import ReportBatch
from metrics.arrays import Floats, Integers


@dataclass(frozen=True)
class Sent:
    """Reports that devices sent for one use case.

    Attributes
    ----------
    use_case : str
        What the events are about.
    person : ndarray of int, shape (n,)
        Device that sent each report, known from its address.
    minute : ndarray of int, shape (n,)
        Minute of the day at which each report was sent.
    reports : ReportBatch
        The privatized events.
    """

    use_case: str
    person: Integers = field(repr=False)
    minute: Integers = field(repr=False)
    reports: ReportBatch = field(repr=False)


@dataclass(frozen=True)
class Published:
    """Counts that the aggregator publishes for one use case.

    Attributes
    ----------
    values : ndarray of int, shape (published,)
        Values above the threshold, the most frequent first.
    counts : ndarray of float, shape (published,)
        Their estimated counts among the reports.
    threshold : float
        Published counts exceed this.
    """

    values: Integers
    counts: Floats
    threshold: float


def send(
    use_case: str, person: ArrayLike, values: ArrayLike, protocol: FrequencyOracle, share: float, rng: Generator
) -> Sent:
    """Privatize every event on its device, and send a random share of the reports within a day.

    Events are privatized before sampling, so that no event waits on the device in the clear.

    Parameters
    ----------
    use_case : str
        What the events are about.
    person, values : array_like of int, shape (events,)
        Person and value of each event.
    protocol : FrequencyOracle
        Randomizes each event.
    share : float
        Share of the reports that are sent, in (0, 1].
    rng : Generator
        Source of all randomness of the devices.
    """
    check_real("share", share, low=0, high=1, open_low=True)
    reports = protocol.privatize(values, rng)
    sampled = np.flatnonzero(rng.random(len(reports)) < share)
    minute = np.sort(rng.integers(24 * 60, size=sampled.size))
    sampled = rng.permutation(sampled)
    return Sent(use_case, np.asarray(person)[sampled], minute, reports.take(sampled))


def ingest(batches: Sequence[Sent], rng: Generator) -> dict[str, list[ReportBatch]]:
    """Remove sender and time, split the reports by use case, and shuffle each batch."""
    split: dict[str, list[ReportBatch]] = {}
    for batch in batches:
        shuffled = batch.reports.take(rng.permutation(len(batch.reports)))
        split.setdefault(batch.use_case, []).append(shuffled)
    return split


def aggregate(reports: ReportBatch, false_alarms: float = 0.05) -> Published:
    """Estimate all counts and publish those above a threshold.

    Parameters
    ----------
    reports : ReportBatch
        Reports of one use case, at least one.
    false_alarms : float
        False-alarm probability, in (0, 1): some value that nobody holds exceeds the threshold.
    """
    from scipy.special import ndtri

    check_real("false_alarms", false_alarms, low=0, high=1, open_low=True, open_high=True)
    protocol = reports.protocol
    counts = protocol.estimate(reports)
    even = np.full(protocol.d, 1 / protocol.d)
    threshold = float(ndtri(1 - false_alarms / protocol.d) * np.sqrt(protocol.variance(len(reports), even).max()))
    values = np.argsort(-counts, kind="stable")
    values = values[counts[values] > threshold]
    return Published(values, counts[values], threshold)
