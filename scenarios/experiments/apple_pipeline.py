"""Apple's pipeline of local differential privacy: devices, an ingestor, an aggregator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.parameters import check_real
from defenses.ldp.frequency_oracle import FrequencyOracle
from defenses.ldp.report_batch import ReportBatch
from metrics.arrays import Floats


@dataclass(frozen=True)
class Sent:
    """What devices sent of one use case.

    Attributes
    ----------
    use_case : str
        What it is about.
    person : ndarray of int, shape (n,)
        Which device sent each report, as its address tells.
    minute : ndarray of int, shape (n,)
        When.
    reports : ReportBatch
        The privatized records.
    """

    use_case: str
    person: NDArray[np.intp] = field(repr=False)
    minute: NDArray[np.intp] = field(repr=False)
    reports: ReportBatch = field(repr=False)


@dataclass(frozen=True)
class Published:
    """What the aggregator publishes of one use case.

    Attributes
    ----------
    values : ndarray of int, shape (published,)
        Values above the threshold, the most frequent first.
    counts : ndarray of float, shape (published,)
        Their estimated counts, among the reports.
    threshold : float
        What a count must exceed.
    """

    values: NDArray[np.intp]
    counts: Floats
    threshold: float


def send(
    use_case: str, person: ArrayLike, values: ArrayLike, protocol: FrequencyOracle, share: float, rng: Generator
) -> Sent:
    """Devices privatize every event, keep a random share of the records and send them within a day.

    Privatizing comes before sampling, so that nothing in the clear waits on the device.

    Parameters
    ----------
    use_case : str
        What the events are.
    person, values : array_like of int, shape (events,)
        Whose event, and its value.
    protocol : FrequencyOracle
        Randomizes each.
    share : float
        Share of the records that is sent, in (0, 1].
    rng : Generator
        All randomness of the devices.
    """
    check_real("share", share, low=0, high=1, open_low=True)
    reports = protocol.privatize(values, rng)
    kept = np.flatnonzero(rng.random(len(reports)) < share)
    minute = np.sort(rng.integers(24 * 60, size=kept.size))
    kept = rng.permutation(kept)
    return Sent(use_case, np.asarray(person)[kept], minute, reports.take(kept))


def ingest(batches: Sequence[Sent], rng: Generator) -> dict[str, list[ReportBatch]]:
    """The ingestor drops who and when, splits by use case, and shuffles."""
    split: dict[str, list[ReportBatch]] = {}
    for batch in batches:
        shuffled = batch.reports.take(rng.permutation(len(batch.reports)))
        split.setdefault(batch.use_case, []).append(shuffled)
    return split


def aggregate(reports: ReportBatch, false_alarms: float = 0.05) -> Published:
    """The aggregator estimates all counts and publishes those above a threshold.

    Parameters
    ----------
    reports : ReportBatch
        Of one use case, at least one.
    false_alarms : float
        False-alarm probability, in (0, 1): that any value which nobody holds exceeds the threshold.
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
