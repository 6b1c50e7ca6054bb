"""Every address for every role, form tokens, headers, cookies, markup."""

import re
import stat

import pytest
from site_tools import HOUR, JSON, START, TEAMS, served

from scenarios.tournament.site.application import ENDPOINTS, Access

ROLES = ("guest", "kyoto", "osaka", "host")
# Who may use each address of team kyoto: written out here, apart from the table that the site itself uses.
EXPECTED = {
    "GET /": ROLES,
    "GET /screen": ROLES,
    "GET /rules": ROLES,
    "GET /boards/{name}": ROLES,
    "GET /published.zip": ROLES[1:],
    "GET /published/{of}/{kind}": ROLES[1:],
    "GET /live": ROLES,
    "GET /health": ROLES,
    "GET /static/{name}": ROLES,
    "GET /log-in": ROLES,
    "POST /log-in": ROLES,
    "GET /invitation/{token}": ROLES,
    "POST /invitation/{token}": ROLES,
    "GET /account": ROLES[1:],
    "POST /log-out": ROLES[1:],
    "GET /team/{team}": ("kyoto", "host"),
    "GET /team/{team}/kit.zip": ("kyoto", "host"),
    "GET /team/{team}/report": ("kyoto", "host"),
    "GET /team/{team}/submissions/{number}": ("kyoto", "host"),
    "POST /team/{team}/upload": ("kyoto",),
    "POST /team/{team}/take": ("kyoto",),
    "POST /team/{team}/preview": ("kyoto",),
    "GET /presentations": ROLES,
    "GET /presentations/{of}": ROLES,
    "GET /presentations/{of}/picture": ROLES,
    "POST /presentations/{of}/points": ROLES[1:],
    "GET /team/{team}/presentation": ("kyoto", "host"),
    "GET /team/{team}/presentation/picture": ("kyoto", "host"),
    "POST /team/{team}/present": ("kyoto",),
    "GET /host": ("host",),
    "POST /host/score-again": ("host",),
    "GET /host/export.zip": ("host",),
    "POST /host/advance": ("host",),
    "POST /host/extend": ("host",),
    "POST /host/reopen": ("host",),
    "POST /host/disqualify": ("host",),
    "POST /host/readmit": ("host",),
    "POST /host/message": ("host",),
    "POST /host/title": ("host",),
    "POST /host/admit": ("host",),
    "POST /host/invite": ("host",),
}
FILLED = {"{name}": "standings.csv", "{of}": "kyoto", "{kind}": "anonymized", "{team}": "kyoto", "{number}": "2"}


def filled(path):
    for parameter, value in FILLED.items():
        path = path.replace(parameter, value)
    return path.replace("{token}", "x")


@pytest.fixture(scope="module")
def everybody(attack_phase, tmp_path_factory):
    with served(attack_phase, tmp_path_factory.mktemp("access") / "cup") as site:
        site.clock.now = START + HOUR
        yield site, {role: site.visitor() if role == "guest" else site.member(role) for role in ROLES}


@pytest.mark.thorough
def test_the_table_above_has_all_addresses(everybody):
    site, _ = everybody
    routed = {f"{method} {route.path}" for route in site.app.app.routes for method in route.methods - {"HEAD"}}
    assert routed == set(EXPECTED) == {f"{one.method} {one.path}" for one in ENDPOINTS}


@pytest.mark.thorough_beyond(21)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("address", sorted(set(EXPECTED) - {"GET /live", "POST /log-out"}))
def test_every_address_for_every_role(everybody, address, role):
    site, visitors = everybody
    method, path = address.split()
    visitor = visitors[role]
    before = len(site.log())
    if method == "GET":
        answer = visitor.get(filled(path), headers=JSON)
    else:
        page = "/log-in" if role == "guest" else "/account"
        answer = visitor.post(filled(path), page=page, headers=JSON)
    admitted = answer.status_code not in (401, 403) or (path == "/log-in" and "wrong" in answer.text)
    assert admitted == (role in EXPECTED[address]), answer.text
    if not admitted:
        assert set(answer.json()) == {"error", "problems"}
        assert len(site.log()) == before
    if method == "GET" and not admitted:
        assert visitor.client.head(filled(path), headers=JSON).status_code == answer.status_code


def test_a_team_reaches_nothing_of_another_by_its_own_address(everybody):
    site, visitors = everybody
    osaka = site.played.tournament.state(site.log()).tables["osaka"]
    assert visitors["kyoto"].get(f"/team/kyoto/submissions/{osaka.number}").status_code == 404
    for path in ("/team/KYOTO", "/team/kyoto%2F..%2Fosaka/kit.zip", "/team/../osaka/kit.zip", "/team/%6Fsaka"):
        assert visitors["kyoto"].get(path).status_code in (303, 403, 404)
    for path in ("/boards/..%2F..%2Fhost%2Fsecret.json", "/boards/secret.json", "/static/..%2Fsite.py", "/static/x"):
        assert visitors["host"].get(path).status_code == 404
    assert visitors["kyoto"].get("/published/..%2Fhost/anonymized").status_code == 404
    assert visitors["kyoto"].get("/published/kyoto/original").status_code == 404


@pytest.mark.thorough
def test_no_page_shows_secrets_of_the_host(everybody):
    """Neither the seed nor the true positions, on any page of any role but the host's."""
    site, visitors = everybody
    seed = str(site.played.tournament.secret["seed"])
    for role in ROLES[:3]:
        for address, allowed in EXPECTED.items():
            method, path = address.split()
            if method == "GET" and role in allowed and path != "/live" and "zip" not in path:
                text = visitors[role].get(filled(path)).text
                assert f'"seed": {seed}' not in text
                assert (
                    "original_row" not in text or "/submissions/" in path or path in ("/rules", "/team/{team}/report")
                )


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("address", [one for one in sorted(EXPECTED) if one.startswith("POST")])
def test_every_form_needs_its_browsers_token(everybody, address):
    site, visitors = everybody
    path = filled(address.split()[1])
    member = visitors[EXPECTED[address][-1]]
    before = len(site.log())
    for visitor in (member, site.visitor()):
        for token in ("", "x" * 64, visitors["osaka"].token("/account")):
            answer = visitor.post(path, token=token, headers=JSON)
            assert (answer.status_code, "the form is too old" in answer.text) in ((403, True), (401, False))
    assert member.get("/account").status_code == 200
    assert len(site.log()) == before


def test_form_tokens_are_compared_in_constant_time(cup_site, monkeypatch):
    import hmac

    compared, real = [], hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *both: compared.append(both) or real(*both))
    cup_site.visitor().post("/log-in", {"name": "x", "password": "y"}, page="/log-in")
    assert compared


def test_rules_and_reports_are_sanitized(cup_site):
    """Markdown keeps no HTML, no image of another site and no link that runs a script."""
    text = (
        "<script>alert(1)</script> ![x](https://evil.example/x.png) [y](javascript:alert(1)) [z](https://fine.example)"
    )
    (cup_site.folder / "teams" / "kyoto" / "report.md").write_text(text)
    (cup_site.folder / "teams" / "kyoto" / "RULES.md").write_text(text)
    for page in (cup_site.member("kyoto").get("/team/kyoto/report").text, cup_site.visitor().get("/rules").text):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert 'href="javascript' not in page
        assert 'href="https://fine.example"' in page


def test_every_page_has_the_security_headers(everybody):
    _, visitors = everybody
    for path in ("/", "/log-in", "/team/kyoto", "/nowhere", "/static/site.css", "/team/osaka"):
        headers = visitors["kyoto"].get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.thorough
def test_no_page_has_anything_inline(everybody):
    """The policy forbids inline scripts and styles; a page that had some would be broken."""
    _, visitors = everybody
    for address, allowed in EXPECTED.items():
        method, path = address.split()
        if method == "GET" and "host" in allowed and path != "/live":
            answer = visitors["host"].get(filled(path))
            if answer.headers["content-type"].startswith("text/html"):
                assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script>", answer.text), path
                external = re.findall(r'(?:src|href|action)="(?!/|#)([^"]*)"', answer.text)
                assert not external, path


def test_personal_pages_are_not_stored(everybody):
    _, visitors = everybody
    for path in ("/team/kyoto", "/account", "/team/kyoto/kit.zip", "/team/kyoto/submissions/2"):
        assert visitors["kyoto"].get(path).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("secure", [False, True])
def test_cookies_are_closed_to_scripts_and_other_sites(first_phase, tmp_path, secure):
    with served(first_phase, tmp_path / "cup", secure=secure) as site:
        visitor = site.visitor()
        visitor.client.base_url = "https://testserver" if secure else "http://testserver"
        path = site.invitation("kyoto")
        shown = visitor.get(path)
        cookies = [shown.headers["set-cookie"]]
        answer = visitor.post(path, {"password": "correct horse", "repeated": "correct horse"}, page=path)
        cookies.append(answer.headers["set-cookie"])
        for cookie in cookies:
            lowered = cookie.lower()
            assert "httponly" in lowered
            assert "samesite=lax" in lowered
            assert "path=/" in lowered
            assert "domain" not in lowered
            assert ("secure" in lowered) == secure
            assert cookie.startswith("__Host-") == secure
        assert ("strict-transport-security" in shown.headers) == secure


def test_secrets_are_private_files_and_hashes_only(cup_site, caplog):
    path = cup_site.invitation("kyoto")
    token = path.rpartition("/")[2]
    kyoto = cup_site.visitor()
    kyoto.post(path, {"password": "correct horse", "repeated": "correct horse"}, page=path)
    database = cup_site.folder / "host" / "accounts.db"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE((cup_site.folder / "host" / "uploads").stat().st_mode) == 0o700
    content = database.read_bytes()
    for secret in (token, "correct horse", kyoto.client.cookies["tokumei-session"]):
        assert secret.encode() not in content
        assert secret not in caplog.text
    assert b"$argon2id$" in content
    everything = b"".join(one.read_bytes() for one in cup_site.folder.rglob("*") if one.is_file())
    assert b"correct horse" not in everything


def test_the_accounts_of_another_user_are_refused(cup_site):
    from scenarios.tournament.site.account_store import AccountStore

    path = cup_site.folder / "host" / "accounts.db"
    path.chmod(0o644)
    with pytest.raises(ValueError, match="may be read by other users"):
        AccountStore(path)
    path.chmod(0o600)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(ValueError, match="is damaged"):
        AccountStore(path)


def test_unknown_pages_and_methods_are_refused_politely(cup_site):
    visitor = cup_site.visitor()
    assert "no such page" in visitor.get("/nowhere").text
    assert visitor.get("/nowhere", headers=JSON).json()["error"]
    refused = visitor.client.put("/", headers=JSON)
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert visitor.client.put("/log-in").headers["Allow"] == "GET, HEAD, POST"
    assert visitor.client.get("/host/advance").headers["Allow"] == "POST"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("number", ["9" * 5000, "9" * 30, "-1", "x", "²", "0"])
def test_a_number_that_no_submission_has_is_refused(cup_site, number):
    """Python converts no text of more than 4,300 digits, so a long one must not reach `int`."""
    path = f"/team/kyoto/submissions/{number}"
    assert cup_site.visitor().get(path, headers=JSON).status_code == 401
    assert cup_site.member("kyoto").get(path, headers=JSON).status_code == 404


def test_a_head_request_does_not_hold_an_event_stream(cup_site):
    answer = cup_site.visitor().client.head("/live")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert cup_site.site.updates.listeners == 0


def test_access_says_no_by_default():
    from scenarios.tournament.site.account_store import GUEST

    assert [access for access in Access if access.allows(GUEST, TEAMS[0])] == [Access.EVERYBODY]
