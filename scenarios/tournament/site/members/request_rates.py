"""Rate limits of members' requests, in memory."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

from scenarios.tournament.site.members.attempts import RateLimit


class RequestRates:
    """Counts recent requests by user and address of the site, until the server stops.

    The limits hold for minutes and for members only, so memory is bounded and a restart forgives little. A database
    would write to the disk at each upload, and a hundred simultaneous uploads would wait for its lock. Attempts to log
    in are counted in the database; see `Attempts`.
    """

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], deque[float]] = {}

    def admit(self, user: str, path: str, limit: RateLimit, now: datetime) -> timedelta | None:
        """Count a request, unless the limit is exhausted; call it from one thread.

        Returns
        -------
        timedelta or None
            Time until the next request may succeed; None if this one is admitted.
        """
        moment, within = now.timestamp(), limit.within.total_seconds()
        times = self._times.setdefault((user, path), deque(maxlen=limit.most))
        if len(times) == limit.most and times[0] > moment - within:
            return timedelta(seconds=times[0] + within - moment)
        times.append(moment)
        return None
