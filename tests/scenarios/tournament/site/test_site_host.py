"""The host's page: every decision is logged and shown, and refused ones change nothing."""

import io
import zipfile
from datetime import timedelta

import pytest
from site_tools import JSON, PASSWORD, START, served

from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.site.pages.answers import moments

DAY = timedelta(days=1)


def decide(host, action, data, **given):
    return host.post(f"/host/{action}", {"sure": "yes", **data}, headers=JSON, **given)


@pytest.mark.thorough
def test_the_host_moves_phases_and_everybody_sees_it(cup_site):
    host, guest = cup_site.member("host"), cup_site.visitor()
    later = (START + 1.5 * DAY).strftime("%Y-%m-%dT%H:%M")
    answer = decide(host, "extend", {"phase": "anonymize", "until": later, "reason": "snow"})
    assert answer.status_code == 200, answer.text
    shown = guest.get("/", headers=JSON).json()
    assert shown["until"] == (START + 1.5 * DAY).isoformat()
    assert "snow" in guest.get("/").text
    assert 'ends at <time datetime="2030-01-03T00:00:00+00:00">2030-01-03 00:00 UTC</time>: snow' in guest.get("/").text
    # The page's script tells the moment; the field itself is in the viewer's zone.
    fields = {"phase": "anonymize", "until": "2030-01-03T09:30", "moment": "2030-01-03T00:30:00.000Z", "reason": "snow"}
    assert "ends at 2030-01-03T00:30:00+00:00" in decide(host, "extend", fields).json()["message"]
    early = decide(host, "advance", {"phase": "anonymize"})
    assert early.status_code == 409
    assert "--" not in early.json()["error"]
    assert decide(host, "advance", {"phase": "anonymize", "early": "yes"}).status_code == 200
    assert guest.get("/", headers=JSON).json()["phase"] == "attack"
    stale = decide(host, "advance", {"phase": "anonymize", "early": "yes"})
    assert "has changed" in stale.json()["error"]
    reopened = decide(host, "reopen", {"phase": "anonymize", "until": later, "reason": "fog"})
    assert reopened.status_code == 200
    assert guest.get("/", headers=JSON).json()["phase"] == "anonymize"
    assert [entry.kind for entry in cup_site.log()] == ["opened", "extended", "extended", "advanced", "reopened"]


def test_pages_say_what_to_do_in_words_of_their_own(cup_site):
    """Commands name options and other commands; a page names its boxes and forms."""
    host, tomorrow = cup_site.member("host"), (START + DAY).strftime("%Y-%m-%dT%H:%M")
    soon = (START + timedelta(hours=20)).strftime("%Y-%m-%dT%H:%M")

    def refused(action, **data):
        return decide(host, action, data).json()["error"]

    assert refused("advance", phase="anonymize").endswith("; tick the box to close it now")
    assert refused("extend", phase="anonymize", until=soon, reason="snow").endswith(" already; name a later end")
    assert refused("extend", phase="anonymize", until=tomorrow, reason=" ") == "reason: must not be empty; teams see it"
    assert refused("reopen", phase="attack", until=tomorrow, reason="fog").endswith("is anonymize; extend it instead")
    assert decide(host, "advance", {"phase": "anonymize", "early": "yes"}).status_code == 200
    assert refused("extend", phase="anonymize", until=tomorrow, reason="fog").endswith("is attack; reopen it instead")


def test_moments_in_texts_are_shown_like_all_others():
    text = "<b> until 2030-01-02T12:00+09:00, not 2030-99-02T12:00Z or 9999-12-31T23:59-14:00"
    shown = '<time datetime="2030-01-02T03:00:00+00:00">2030-01-02 03:00 UTC</time>'
    assert moments(text) == f"&lt;b&gt; until {shown}, not 2030-99-02T12:00Z or 9999-12-31T23:59-14:00"


@pytest.mark.thorough
def test_messages_titles_and_disqualification(cup_site):
    host, guest = cup_site.member("host"), cup_site.visitor()
    text = "<img src=x onerror=alert(1)> 明日まで"
    assert decide(host, "message", {"text": text}).status_code == 200
    assert decide(host, "title", {"team": "kyoto", "title": "京都大学 <b>"}).status_code == 200
    assert decide(host, "disqualify", {"team": "osaka", "reason": "copied"}).status_code == 200
    page = guest.get("/").text
    assert "&lt;img src=x" in page
    assert "<img" not in page
    assert "明日まで" in page
    assert "copied" in page
    page = host.get("/host").text
    assert "京都大学 &lt;b&gt;" in page
    assert "disqualified" in page
    assert decide(host, "readmit", {"team": "osaka", "reason": "a mistake"}).status_code == 200


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("action", "data", "message"),
    [
        ("extend", {"phase": "anonymize", "until": "soon", "reason": "x"}, "in UTC"),
        ("extend", {"phase": "lunch", "until": "2031-01-01T00:00", "reason": "x"}, "choose a phase"),
        ("extend", {"phase": "anonymize", "until": "2030-01-01T00:00", "reason": "x"}, "passed"),
        ("extend", {"phase": "anonymize", "until": "2030-01-02T18:00", "reason": ""}, "reason"),
        ("extend", {"phase": "attack", "until": "9999-12-31T23:59-14:00", "reason": "x"}, "is no moment"),
        ("extend", {"phase": "attack", "until": "0001-01-01T00:00+14:00", "reason": "x"}, "is no moment"),
        ("disqualify", {"team": "nobody", "reason": "x"}, "no team"),
        ("message", {"text": "  "}, "message"),
    ],
)
def test_a_refused_decision_changes_nothing(cup_site, action, data, message):
    before = len(cup_site.log())
    answer = decide(cup_site.member("host"), action, data)
    assert answer.status_code == 409
    assert message in answer.json()["error"]
    assert "--" not in answer.json()["error"], "the page has no options of the command line"
    assert len(cup_site.log()) == before


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("action", ["advance", "reopen", "disqualify"])
def test_grave_decisions_need_a_confirmation(cup_site, action):
    answer = decide(
        cup_site.member("host"), action, {"sure": "", "phase": "anonymize", "early": "yes", "team": "kyoto"}
    )
    assert answer.status_code == 422
    assert len(cup_site.log()) == 1


@pytest.mark.thorough
def test_the_host_admits_a_late_file(attack_site):
    attack_site.clock.now = START + DAY + timedelta(hours=1)
    host, table = attack_site.member("host"), attack_site.table("nara")
    answer = host.post(
        "/host/admit",
        {"team": "nara", "reason": "train was late"},
        files=[("file", ("x.csv", table, "text/csv"))],
        headers=JSON,
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["files"][0]["accepted"]
    assert "train was late" in attack_site.visitor().get("/").text


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("reason", "message"), [("", "reason: must not be empty"), ("ill", "reopen the phase")])
def test_a_refused_admission_speaks_of_the_page(attack_site, reason, message):
    """Messages name neither options nor commands, which the page does not have."""
    host, before = attack_site.member("host"), len(attack_site.log())
    files = [("file", ("osaka_anonymized.csv", attack_site.table("osaka"), "text/csv"))]
    answer = host.post("/host/admit", {"team": "osaka", "reason": reason}, files=files, headers=JSON)
    text = answer.json()["files"][0]["message"]
    assert (answer.status_code, len(attack_site.log())) == (422, before)
    assert message in text
    assert "--" not in text
    assert "`" not in text


def test_a_link_from_the_host_works(cup_site):
    host, new = cup_site.member("host"), cup_site.visitor()
    link = host.post("/host/invite", {"team": "nara"}, headers=JSON).json()["link"]
    path = link.removeprefix("http://testserver")
    assert new.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path).status_code == 303
    assert "has a password" in host.get("/host").text


@pytest.mark.thorough
def test_the_host_exports_everything_but_the_seed(cup_site):
    host, kyoto = cup_site.member("host"), cup_site.member("kyoto")
    kyoto.upload("kyoto", cup_site.table("kyoto"))
    archive = zipfile.ZipFile(io.BytesIO(host.get("/host/export.zip").content))
    names = archive.namelist()
    assert "submissions.csv" in names
    assert not [name for name in names if "secret" in name or "accounts" in name]
    assert not [name for name in names if b'"seed"' in archive.read(name)]
    assert not list(cup_site.site.uploads.iterdir())


@pytest.mark.long
def test_scores_appear_by_themselves(attack_phase, tmp_path):
    """The site scores in worker processes after an upload; board, report and host page follow."""
    folder = tmp_path / "cup"
    with served(attack_phase, folder, scoring=ScoringQueue(folder, jobs=1)) as site:
        site.clock.now = START + DAY + timedelta(hours=1)
        nara, host = site.member("nara"), site.member("host")
        answer = nara.upload("nara", b"released_row,candidate_row\n0,1\n", names=["nara_attack_kyoto.csv"])
        assert answer.status_code == 200
        assert site.site.scoring.wait(120)
        shown = site.visitor().get("/", headers=JSON).json()["standings"]
        assert {one["team"] for one in shown if one["attacked"] == "1"} == {"nara"}
        assert nara.get("/team/nara/report").status_code == 200
        scoring = host.get("/host", headers=JSON).json()["scoring"]
        assert scoring["waiting"] == 0
        assert scoring["updated"]


@pytest.mark.thorough
def test_a_team_takes_an_older_table_into_force(cup_site):
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    first = kyoto.upload("kyoto", data).json()["files"][0]["receipt"]["number"]
    kyoto.upload("kyoto", cup_site.table("kyoto", age="*"))
    answer = kyoto.post("/team/kyoto/take", {"number": str(first)}, headers=JSON)
    assert answer.status_code == 200, answer.text
    shown = kyoto.get("/team/kyoto", headers=JSON).json()["submissions"]
    assert [one["number"] for one in shown if one["in_force"]] == [first]
    for number in ("999", "x", "1", ""):
        assert kyoto.post("/team/kyoto/take", {"number": number}, headers=JSON).status_code in (409, 422)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("damage", ["[[[", None, "renamed"])
def test_a_damaged_folder_is_told_to_the_host_alone(cup_site, damage):
    """Nothing is submitted or decided meanwhile, and everything works again once the file is back."""
    host, kyoto, guest = cup_site.member("host"), cup_site.member("kyoto"), cup_site.visitor()
    settings, before = cup_site.folder / "tournament.toml", len(cup_site.log())
    token, text = host.token("/host"), settings.read_text()
    upload_token = kyoto.token("/account")
    if damage is None:
        settings.unlink()
    else:
        settings.write_text(text.replace("osaka", "uji") if damage == "renamed" else damage)
    for path in ("/", "/health", "/boards/standings.csv"):
        answer = guest.get(path, headers=JSON)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60"), path
        assert "host must repair" in answer.json()["error"]
        assert str(cup_site.folder) not in answer.text
    assert kyoto.upload("kyoto", cup_site.table("kyoto"), token=upload_token).status_code == 503
    assert decide(host, "message", {"text": "sorry"}, token=token).status_code == 503
    assert str(cup_site.folder) in host.get("/host", headers=JSON).json()["error"]
    settings.write_text(text)
    assert guest.get("/health").json() == {"phase": "anonymize"}
    assert host.get("/health").json() == {"phase": "anonymize", "entries": before}


def test_the_host_sees_that_a_setting_was_changed_by_hand(cup_site):
    host, settings = cup_site.member("host"), cup_site.folder / "tournament.toml"
    assert not host.get("/host", headers=JSON).json()["changed_setting"]
    settings.write_text(settings.read_text().replace("quota = ", "quota = 1"))
    page = host.get("/host").text
    assert "quota was changed by hand from" in page
    assert "(forms on this page move deadlines)" in page
    assert "`" not in page


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("asked", ["bytes=0-9", "bytes=999999999-", "bytes=x", "bytes=0-1,5-6"])
def test_an_export_is_sent_as_a_whole_since_each_is_made_anew(cup_site, asked):
    """A range of one archive would not continue another one; nothing of it stays in the folder."""
    host = cup_site.member("host")
    answer = host.get("/host/export.zip", headers={"Range": asked})
    assert (answer.status_code, answer.headers["Accept-Ranges"]) == (200, "none")
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert zipfile.ZipFile(io.BytesIO(answer.content)).testzip() is None
    assert not list(cup_site.site.uploads.iterdir())
