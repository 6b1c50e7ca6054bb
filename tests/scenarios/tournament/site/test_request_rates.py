"""Rate limits of members' requests."""

from datetime import timedelta

from tournament_tools import START

from scenarios.tournament.site.accounts import RateLimit, RequestRates

LIMIT = RateLimit(3, timedelta(minutes=1))


def test_a_window_that_slides():
    rates = RequestRates()

    def at(seconds, user="kyoto", path="/upload"):
        wait = rates.admit(user, path, LIMIT, START + timedelta(seconds=seconds))
        return None if wait is None else wait.total_seconds()

    assert [at(0), at(10), at(20)] == [None, None, None]
    assert at(30) == 30
    # Neither another user nor another address is affected, and a refused request does not count.
    assert at(30, user="osaka") is None
    assert at(30, path="/preview") is None
    assert at(59.5) == 0.5
    assert at(60) is None
    assert at(61) == 9


def test_memory_is_bounded():
    """Ten thousand requests of one user leave the times of three."""
    rates = RequestRates()
    for number in range(10_000):
        rates.admit("kyoto", "/upload", LIMIT, START + timedelta(hours=number))
    assert [len(times) for times in rates._times.values()] == [3]
