"""Rate limits of attempts and of members' requests."""

from datetime import timedelta

from scenarios.tournament.site import accounts
from scenarios.tournament.site.accounts import RateLimit, Rates

LIMIT = RateLimit(3, timedelta(minutes=1))


class Seconds:
    """A clock that tests move."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_window_that_slides():
    clock = Seconds()
    rates = Rates(clock)

    def at(seconds, *keys):
        clock.now = seconds
        wait = rates.admit(dict.fromkeys(keys or ["kyoto /upload"], LIMIT))
        return None if wait is None else wait.total_seconds()

    assert [at(0), at(10), at(20)] == [None, None, None]
    assert at(30) == 30
    # Neither another user nor another address is affected, and a refused request does not count.
    assert at(30, "osaka /upload") is None
    assert at(30, "kyoto /preview") is None
    assert at(40, "kyoto /upload", "osaka /upload") == 20
    assert [at(40, "osaka /upload"), at(40, "osaka /upload"), at(40, "osaka /upload")] == [None, None, 50]
    assert at(59.5) == 0.5
    assert at(60) is None
    assert at(61) == 9
    rates.forget("kyoto /upload")
    assert at(61) is None


def test_memory_is_bounded(monkeypatch):
    """Ten thousand requests of one user leave the times of three, and names that nobody has are forgotten."""
    monkeypatch.setattr(accounts, "_MOST_KEYS", 50)
    clock = Seconds()
    rates = Rates(clock)
    for number in range(10_000):
        clock.now = 3600.0 * number
        rates.admit({"kyoto /upload": LIMIT, f"nobody {number}": LIMIT})
    assert len(rates._times["kyoto /upload"]) == 3
    assert len(rates._times) <= 52
