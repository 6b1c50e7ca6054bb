"""Data downtime: how long data was wrong or missing, and what that cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from leaderboard.pages.report import Table, Value
from metrics.columns import Sentence

_HOUR = 3600.0


@dataclass(frozen=True)
class Incident:
    """One failure, or several of equal length, from its beginning to its repair.

    Attributes
    ----------
    kind : str
        What failed, such as "refused submission".
    began : datetime
        When the fault arose, as far as is known, with a time zone.
    found : datetime
        When it was detected.
    repaired : datetime or None
        When it was resolved; None while it is open.
    over : datetime or None
        When it ceases to count although it is open; None if it counts until it is resolved.
    number : float
        Number of such failures; a fraction where it is an estimate.
    """

    kind: str
    began: datetime
    found: datetime
    repaired: datetime | None = None
    over: datetime | None = None
    number: float = 1

    @classmethod
    def lasting(cls, kind: str, detection: float, repair: float, number: float = 1) -> Incident:
        """Failures of which only the hours to detection and to repair are known."""
        began = datetime.fromtimestamp(0, UTC)
        found = began + timedelta(hours=detection)
        return cls(kind, began, found, found + timedelta(hours=repair), number=number)

    @property
    def detection(self) -> float:
        """Hours until detection; 0 where clocks disagree."""
        return max(0.0, (self.found - self.began).total_seconds() / _HOUR)

    def repair(self, now: datetime) -> float:
        """Hours from detection to repair; while the incident is open, until now or until it is over."""
        end = self.repaired or min(now, self.over or now)
        return max(0.0, (end - self.found).total_seconds() / _HOUR)


def downtime_hours(incidents: float, detection: float, repair: float) -> float:
    """Data downtime: incidents x (time to detection + time to repair).

    Parameters
    ----------
    incidents : float
        Number of incidents.
    detection, repair : float
        Mean hours to detection and from there to repair.

    References
    ----------
    Moses, Gavish and Vorwerck (2022), Data Quality Fundamentals, chapter 1.

    Examples
    --------
    Of 1,000 tables one in 15 has an incident a year, detected after 4 hours and repaired after 9 more:

    >>> round(downtime_hours(1000 / 15, 4, 9))
    867
    """
    return incidents * (detection + repair)


def hourly_cost(people: Iterable[tuple[float, float, float]], loss: float = 0.0) -> float:
    """Cost of an hour of downtime: wages of the people whom it occupies or keeps from work, and other losses.

    Parameters
    ----------
    people : iterable of (float, float, float)
        Number of people, wage in an hour, and share of an hour of downtime that each loses.
    loss : float
        Other loss in an hour.

    Examples
    --------
    Two engineers at 4,000 lose a quarter of the time, ten analysts at 5,000 a fifth:

    >>> hourly_cost([(2, 4000, 0.25), (10, 5000, 0.2)])
    12000.0
    """
    return float(sum(number * wage * share for number, wage, share in people) + loss)


def downtime_table(incidents: Sequence[Incident], now: datetime) -> Table:
    """Downtime by kind of incident, and in total, as a table of a report.

    Parameters
    ----------
    incidents : sequence of Incident
        All incidents.
    now : datetime
        Current time, with a time zone, up to which open incidents count.
    """
    rows: list[list[Value]] = []
    for name, chosen in _by_kind(incidents).items():
        number = math.fsum(incident.number for incident in chosen)
        still_open = math.fsum(incident.number for incident in chosen if incident.repaired is None)
        detection = _mean_and_ends([(incident.number, incident.detection) for incident in chosen])
        repair = _mean_and_ends([(incident.number, incident.repair(now)) for incident in chosen])
        rows.append([name, *map(_whole, (number, still_open)), *detection, *repair, _hours(chosen, now)])
    return Table(
        "Data downtime",
        _COLUMNS,
        rows,
        digits=2,
        note=Sentence("Times are hours. Downtime = number x (time to detection + time to repair)."),
    )


def downtime_cost_table(
    incidents: Sequence[Incident], now: datetime, cost: float, reduction: float | None = None
) -> Table:
    """What downtime cost by kind of incident, and in total, as a table of a report.

    Parameters
    ----------
    incidents, now
        See `downtime_table`.
    cost : float
        Cost of an hour of downtime (`hourly_cost`).
    reduction : float, optional
        Share of the downtime that might be saved; the table shows what this would save.
    """
    shares = [1.0] if reduction is None else [1.0, reduction]
    saved = [] if reduction is None else [f"saved by {100 * reduction:g} % less"]
    return Table(
        "Cost of downtime",
        ("incident", "cost", *saved),
        [
            [name, *(_hours(chosen, now) * cost * share for share in shares)]
            for name, chosen in _by_kind(incidents).items()
        ],
        digits=2,
        note=f"Cost = downtime x {cost:,.12g}, the cost of an hour: wages of those who repair or cannot work, and "
        "other losses.",
    )


def _by_kind(incidents: Sequence[Incident]) -> dict[str, list[Incident]]:
    """Incidents of each kind, and all."""
    kinds = sorted({incident.kind for incident in incidents})
    return {kind: [one for one in incidents if one.kind == kind] for kind in kinds} | {"all": list(incidents)}


def _hours(incidents: Sequence[Incident], now: datetime) -> float:
    """Downtime of incidents, each from detection and repair of its own."""
    return math.fsum(downtime_hours(one.number, one.detection, one.repair(now)) for one in incidents)


_COLUMNS = (
    "incident",
    "number",
    "open",
    *(f"{time}{end}" for time in ("detection", "repair") for end in ("", ", least", ", most")),
    "downtime",
)


def _mean_and_ends(hours: Sequence[tuple[float, float]]) -> list[float | None]:
    """Mean, minimum and maximum of hours, each of a number of incidents."""
    number = math.fsum(weight for weight, _ in hours)
    if not number:
        return [None, None, None]
    mean = math.fsum(weight * value for weight, value in hours) / number
    return [mean, min(value for _, value in hours), max(value for _, value in hours)]


def _whole(number: float) -> float:
    """A count as an integer where it is one."""
    return int(number) if number == int(number) else number
