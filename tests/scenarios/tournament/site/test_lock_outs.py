"""Whoever guesses passwords is stopped, and nobody else is."""

from datetime import timedelta

import pytest
from site_tools import JSON, PASSWORD
from starlette.testclient import TestClient

from scenarios.tournament.site.accounts import network


def log_in(visitor, name, password=PASSWORD):
    """Status of an attempt to log in."""
    return visitor.post("/log-in", {"name": name, "password": password}, page="/log-in", headers=JSON).status_code


def guess(visitor, name, times):
    """Statuses of so many wrong passwords."""
    token = visitor.token()
    fields = ({"name": name, "password": f"guess number {number}"} for number in range(times))
    return [visitor.post("/log-in", one, token=token, headers=JSON).status_code for one in fields]


def at(site, address):
    """A visitor with a new browser at an address; the others of a test share one."""
    visitor = site.visitor()
    visitor.client = TestClient(site.app, follow_redirects=False, client=(address, 50000))
    visitor.client.portal = site.portal
    return visitor


@pytest.mark.thorough
def test_no_wrong_passwords_lock_out_a_whole_address(cup_site):
    """A student behind the address of the campus tries every account and many names that nobody has."""
    for name in ("kyoto", "osaka", "host"):
        cup_site.member(name)
    student = cup_site.visitor()
    assert guess(student, "kyoto", 12) == [401] * 10 + [429] * 2
    for number in range(21):
        guess(student, f"nobody {number}", 10)
    assert guess(student, "nobody at all", 1) == [429]
    for name in ("osaka", "host"):
        assert log_in(cup_site.visitor(), name) == 200
    assert log_in(cup_site.visitor(), "kyoto") == 429


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["kyoto", "host"])
def test_guesses_lock_out_neither_a_session_nor_a_browser_that_is_known(cup_site, name):
    owner, student = cup_site.member(name), cup_site.visitor()
    assert guess(student, name, 12)[-1] == 429
    assert owner.get("/account").status_code == 200
    owner.post("/log-out")
    assert owner.get("/account").status_code == 303
    assert log_in(owner, name) == 200
    # A new browser behind the same address waits, or asks for a new link, which works at once.
    assert log_in(cup_site.visitor(), name) == 429
    assert cup_site.member(name).get("/account").status_code == 200


@pytest.mark.thorough
def test_guesses_from_many_addresses_do_not_lock_out_the_owner_at_another(cup_site):
    cup_site.member("kyoto")
    for number in range(15):
        assert guess(at(cup_site, f"198.51.100.{number}"), "kyoto", 10) == [401] * 10
    assert log_in(at(cup_site, "203.0.113.5"), "kyoto") == 200


@pytest.mark.thorough
def test_a_known_browser_cannot_guess_without_bound(cup_site):
    """Neither the passwords of its own user nor, as if it were known to them, those of others."""
    osaka = cup_site.member("osaka")
    osaka.post("/log-out")
    cup_site.member("kyoto")
    assert guess(osaka, "osaka", 12) == [401] * 10 + [429] * 2
    assert guess(osaka, "kyoto", 12) == [401] * 10 + [429] * 2
    cup_site.seconds += 16 * 60
    assert log_in(osaka, "osaka") == 200


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("moved", [-timedelta(hours=2), timedelta(hours=2)])
def test_a_clock_that_is_set_neither_locks_out_nor_forgives(cup_site, moved):
    """Attempts and uploads are counted by a clock that nobody sets."""
    kyoto = cup_site.member("kyoto")
    assert guess(cup_site.visitor(), "osaka", 11)[-1] == 429
    token = kyoto.token()
    assert [kyoto.upload("kyoto", token=token).status_code for _ in range(31)] == [422] * 30 + [429]
    cup_site.clock.now += moved
    assert guess(cup_site.visitor(), "osaka", 1) == [429]
    assert kyoto.upload("kyoto", token=token).status_code == 429
    cup_site.seconds += 61
    assert kyoto.upload("kyoto", token=token).status_code == 422
    cup_site.seconds += 15 * 60
    assert guess(cup_site.visitor(), "osaka", 1) == [401]


@pytest.mark.thorough
def test_a_new_password_forgets_the_browsers(cup_site):
    stolen = cup_site.member("kyoto")
    cup_site.member("kyoto")
    assert guess(cup_site.visitor(), "kyoto", 10) == [401] * 10
    assert guess(stolen, "kyoto", 1) == [429]


def test_cookies_of_browsers_are_secret_and_only_hashes_are_stored(cup_site):
    kyoto = cup_site.member("kyoto")
    token = kyoto.client.cookies["tokumei-browser"]
    content = b"".join(one.read_bytes() for one in cup_site.folder.glob("host/accounts.db*"))
    assert len(token) >= 43
    assert token.encode() not in content


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)
def test_addresses_of_one_network_count_as_one(address, expected):
    assert network(address) == expected
