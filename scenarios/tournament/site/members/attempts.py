"""Rate limits by counting recent attempts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from scenarios.tournament.site.members.account_store import AccountPart, token_hash


@dataclass(frozen=True)
class RateLimit:
    """Largest number of attempts within a time.

    Attributes
    ----------
    most : int
        Number of attempts.
    within : timedelta
        The time.
    """

    most: int
    within: timedelta


class Attempts(AccountPart):
    """Counts attempts by key, such as a name or an address, in the database.

    Keys are stored as hashes: the database lists neither addresses nor mistyped names, which may be passwords.

    Parameters
    ----------
    store : AccountStore
        The database.
    """

    def admit(self, keys: dict[str, RateLimit], now: datetime) -> timedelta | None:
        """Count one attempt under several keys at once, unless one of them is exhausted.

        Counting and checking are one transaction, so simultaneous attempts cannot exceed a limit.

        Returns
        -------
        timedelta or None
            Time until the next attempt may succeed; None if this one is admitted.
        """
        moment = now.timestamp()
        longest = max(limit.within for limit in keys.values()).total_seconds()
        with self._store.transaction() as database:
            wait = 0.0
            for key, limit in keys.items():
                times = [
                    at
                    for (at,) in database.execute(
                        "SELECT at FROM attempts WHERE key = ? AND at > ? ORDER BY at DESC LIMIT ?",
                        (token_hash(key), moment - limit.within.total_seconds(), limit.most),
                    )
                ]
                if len(times) == limit.most:
                    wait = max(wait, times[-1] + limit.within.total_seconds() - moment)
            if wait > 0:
                return timedelta(seconds=wait)
            database.executemany("INSERT INTO attempts VALUES (?, ?)", [(token_hash(key), moment) for key in keys])
            # Limits differ in length; a day covers all of them.
            database.execute("DELETE FROM attempts WHERE at < ?", (moment - max(longest, 86400.0),))
        return None

    def forget(self, key: str) -> None:
        """Forget the attempts under a key, after one succeeded."""
        self._store.write("DELETE FROM attempts WHERE key = ?", token_hash(key))


# Rate limits of members' requests, in memory.


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
