"""Invitations, passwords, log-in, sessions."""

from datetime import timedelta

import pytest
from site_tools import JSON, PASSWORD

from scenarios.tournament.site.accounts import IDLE, LONGEST


def log_in(visitor, name, password=PASSWORD, **given):
    return visitor.post("/log-in", {"name": name, "password": password}, page="/log-in", **given)


def test_an_invitation_sets_a_password_once(cup_site):
    path, visitor = cup_site.invitation("kyoto"), cup_site.visitor()
    assert "Welcome, kyoto" in visitor.get(path).text
    answer = visitor.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/team/kyoto")
    assert visitor.get("/team/kyoto").status_code == 200
    other = cup_site.visitor()
    assert other.get(path).status_code == 404
    stolen = other.post(path, {"password": "another password", "repeated": "another password"}, page="/log-in")
    assert stolen.status_code == 409
    assert log_in(other, "kyoto", "another password").status_code == 401
    assert log_in(other, "KYOTO").status_code == 303


def test_a_wrong_link_is_not_only_called_expired(cup_site):
    answer = cup_site.visitor().get("/invitation/wrong")
    assert answer.status_code == 404
    assert "this link is wrong, was used, or has expired" in answer.text


def test_the_log_in_page_says_which_name_it_wants(cup_site):
    assert "Name of the team (letters, such as kyoto)" in cup_site.visitor().get("/log-in").text


def test_a_double_click_on_an_invitation_logs_in(cup_site):
    path, visitor = cup_site.invitation("kyoto"), cup_site.visitor()
    token = visitor.token(path)
    for _ in range(2):
        answer = visitor.post(path, {"password": PASSWORD, "repeated": PASSWORD}, token=token)
        visitor.client.cookies.delete("tokumei-session")
        assert answer.status_code == 303


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("password", "repeated", "message"),
    [
        ("short", "short", "10 to 200 characters"),
        ("x" * 201, "x" * 201, "10 to 200 characters"),
        ("aaaaaaaaaaaa", "aaaaaaaaaaaa", "easy to guess"),
        (PASSWORD, PASSWORD + "!", "differ"),
    ],
)
def test_a_weak_password_is_refused_and_the_link_stays(cup_site, password, repeated, message):
    path, visitor = cup_site.invitation("kyoto"), cup_site.visitor()
    answer = visitor.post(path, {"password": password, "repeated": repeated}, page=path)
    assert answer.status_code == 422
    assert message in answer.text
    assert visitor.get(path).status_code == 200


def test_an_invitation_expires_and_a_new_one_replaces_it(cup_site):
    first = cup_site.invitation("kyoto")
    second = cup_site.invitation("kyoto")
    visitor = cup_site.visitor()
    assert visitor.get(first).status_code == 404
    assert visitor.get(second).status_code == 200
    cup_site.clock.now += timedelta(days=15)
    assert visitor.get(second).status_code == 404


def test_a_new_link_ends_the_old_password_and_all_sessions(cup_site):
    old = cup_site.member("kyoto")
    path, new = cup_site.invitation("kyoto"), cup_site.visitor()
    assert old.get("/team/kyoto").status_code == 200
    new.post(path, {"password": "a wholly new one", "repeated": "a wholly new one"}, page=path)
    assert old.get("/team/kyoto").status_code == 303
    assert log_in(cup_site.visitor(), "kyoto").status_code == 401


def test_refusals_tell_no_team_from_no_password(cup_site):
    cup_site.member("kyoto")
    texts = set()
    for name in ("kyoto", "osaka", "nobody", "host"):
        answer = log_in(cup_site.visitor(), name, "wrong password", headers=JSON)
        assert answer.status_code == 401
        texts.add(answer.text)
    assert len(texts) == 1


def test_a_hash_is_checked_whether_or_not_the_name_exists(cup_site, monkeypatch):
    """No user enumeration by time: exactly one hash is computed for every attempt."""
    checked = []
    passwords = cup_site.site.accounts._passwords
    real = passwords._hasher.verify
    monkeypatch.setattr(
        passwords, "_hasher", type("Counting", (), {"verify": lambda self, *a: checked.append(1) or real(*a)})()
    )
    for name in ("kyoto", "nobody", "", "host"):
        log_in(cup_site.visitor(), name, "wrong password")
    assert len(checked) == 4


def test_the_right_password_of_an_account_without_a_password_is_none(cup_site):
    """The dummy hash is no password of anybody."""
    assert log_in(cup_site.visitor(), "osaka", "a password that nobody has").status_code == 401


@pytest.mark.thorough
def test_attempts_are_limited_by_name_and_address(cup_site):
    cup_site.member("kyoto")
    visitor = cup_site.visitor()
    token = visitor.token()
    statuses = [
        visitor.post("/log-in", {"name": "kyoto", "password": f"guess {n}"}, token=token).status_code for n in range(12)
    ]
    assert statuses == [401] * 10 + [429] * 2
    refused = log_in(visitor, "kyoto")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    cup_site.seconds += 16 * 60
    assert log_in(visitor, "kyoto").status_code == 303


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("busy", "left"), [(timedelta(hours=1), IDLE), (IDLE - timedelta(minutes=1), LONGEST)])
def test_sessions_end(cup_site, busy, left):
    """After some idle time, and at the latest after the longest time however busy."""
    member = cup_site.member("kyoto")
    end = cup_site.clock.now + left
    while cup_site.clock.now + busy < end and left is LONGEST:
        cup_site.clock.now += busy
        assert member.get("/team/kyoto").status_code == 200
    cup_site.clock.now = end + timedelta(seconds=1)
    assert member.get("/team/kyoto").status_code == 303


def test_log_out_ends_one_session_or_all(cup_site):
    first = cup_site.member("kyoto")
    second, third = cup_site.visitor(), cup_site.visitor()
    for one in (second, third):
        assert log_in(one, "kyoto").status_code == 303
    copied = dict(first.client.cookies)
    first.post("/log-out")
    thief = cup_site.visitor()
    thief.client.cookies.update(copied)
    assert thief.get("/team/kyoto").status_code == 303
    assert second.get("/team/kyoto").status_code == 200
    second.post("/log-out", {"everywhere": "yes"})
    assert third.get("/team/kyoto").status_code == 303


@pytest.mark.thorough
def test_log_in_leads_back_to_a_page_of_this_site_only(cup_site):
    cup_site.member("kyoto")
    for then, target in [
        ("/rules", "/rules"),
        ("//evil.example/", "/team/kyoto"),
        ("https://evil.example/", "/team/kyoto"),
        ("/\\evil.example", "/team/kyoto"),
        ("/\t/evil.example", "/team/kyoto"),
    ]:
        answer = cup_site.visitor().post(
            "/log-in", {"name": "kyoto", "password": PASSWORD, "then": then}, page="/log-in"
        )
        assert answer.headers["location"] == target


def test_a_session_begins_with_a_new_token(cup_site):
    """A cookie that somebody planted before the log-in is worth nothing after it."""
    cup_site.member("kyoto")
    visitor = cup_site.visitor()
    visitor.client.cookies.set("tokumei-session", "planted", domain="testserver.local", path="/")
    assert log_in(visitor, "kyoto").status_code == 303
    assert visitor.client.cookies["tokumei-session"] != "planted"
    planted = cup_site.visitor()
    planted.client.cookies.set("tokumei-session", "planted")
    assert planted.get("/team/kyoto").status_code == 303


def test_the_host_logs_in_under_another_name_if_a_team_is_called_host():
    from scenarios.tournament.site.account_store import Role, user_of

    assert user_of("host", ["kyoto"]).role is Role.HOST
    assert user_of("host", ["kyoto", "Host"]).role is Role.TEAM
    assert user_of("_host", ["kyoto", "Host"]).role is Role.HOST
    assert user_of("_host", ["kyoto"]) is None


def test_two_browsers_cannot_use_one_link_at_the_same_time(cup_site):
    """Both have passed the first look at the link; the database decides."""
    token, invitations = cup_site.invitation("kyoto").rpartition("/")[2], cup_site.site.accounts.invitations
    assert invitations.redeem(token, "first hash", cup_site.clock()) == "kyoto"
    assert invitations.redeem(token, "second hash", cup_site.clock()) is None
    assert cup_site.site.accounts._stored("kyoto") == "first hash"
