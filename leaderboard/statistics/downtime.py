"""Data downtime: how long data was wrong or missing, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.pages.report import Table, Value

_HOUR = 3600.0


@dataclass(frozen=True)
class Incident:
    """One failure, from its beginning to its repair.

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
    """

    kind: str
    began: datetime
    found: datetime
    repaired: datetime | None = None
    over: datetime | None = None

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


def downtime_table(incidents: Sequence[Incident], now: datetime, cost: float | None = None) -> Table:
    """Downtime by kind of incident, and in total, as a table of a report.

    Parameters
    ----------
    incidents : sequence of Incident
        All incidents.
    now : datetime
        Current time, with a time zone, up to which open incidents count.
    cost : float, optional
        Cost of an hour of downtime (`hourly_cost`); without it the cost is left out.
    """
    rows: list[list[Value]] = []
    for name in (*sorted({incident.kind for incident in incidents}), "all"):
        chosen = [incident for incident in incidents if name in (incident.kind, "all")]
        detection = [incident.detection for incident in chosen]
        repair = [incident.repair(now) for incident in chosen]
        means = [sum(hours) / len(chosen) if chosen else None for hours in (detection, repair)]
        hours = downtime_hours(len(chosen), means[0] or 0.0, means[1] or 0.0)
        rows.append(
            [
                name,
                len(chosen),
                sum(incident.repaired is None for incident in chosen),
                *means,
                max(repair, default=None),
                hours,
                *([] if cost is None else [hours * cost]),
            ]
        )
    columns = (
        "incident",
        "number",
        "open",
        "hours to detection",
        "hours to repair",
        "longest repair",
        "downtime, hours",
    )
    return Table(
        "Data downtime",
        (*columns, *([] if cost is None else ["cost"])),
        rows,
        digits=2,
        note="Downtime = number x (time to detection + time to repair). Cost = downtime x the cost of an hour: wages "
        "of those who repair or cannot work, and other losses.",
    )
