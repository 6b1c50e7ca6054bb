"""Uploads: receipts, whole lists of errors, limits, and what reaches the disk."""

import gzip
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from site_tools import JSON, START

from scenarios.tournament.host.decisions import extend
from scenarios.tournament.rules.folder import csv_bytes
from scenarios.tournament.rules.settings import Phase

DAY = timedelta(days=1)


def test_a_table_gets_a_receipt_that_the_log_knows(cup_site):
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    answer = kyoto.upload("kyoto", data)
    assert answer.status_code == 200, answer.text
    [one] = answer.json()["files"]
    entry = cup_site.log()[-1]
    assert one["receipt"]["log"] == entry.hash
    assert one["receipt"]["sha256"] == entry.details["sha256"] == hashlib.sha256(data).hexdigest()
    page = kyoto.get("/team/kyoto").text
    assert entry.hash[:12] in page
    number = one["receipt"]["number"]
    assert kyoto.get(f"/team/kyoto/submissions/{number}").content == data


def test_all_errors_are_listed_and_nothing_is_submitted(cup_site):
    kyoto = cup_site.member("kyoto")
    frame = cup_site.played.frame("kyoto").astype(object)
    frame.loc[1, "age"], frame.loc[2, "marital"], frame.loc[3, "original_row"] = "20-29", "<b>x</b>", 12
    before = len(cup_site.log())
    answer = kyoto.upload("kyoto", frame.to_csv(index=False).encode())
    assert answer.status_code == 422
    [one] = answer.json()["files"]
    assert not one["accepted"]
    places = {(problem["row"], problem["column"]) for problem in one["problems"]}
    assert {(1, "age"), (2, "marital"), (3, "original_row")} <= places
    assert any("[20,29]" in (problem["suggestion"] or "") for problem in one["problems"])
    assert len(cup_site.log()) == before


def test_the_page_shows_the_list_after_a_redirect_and_escapes_cells(cup_site):
    kyoto = cup_site.member("kyoto")
    frame = cup_site.played.frame("kyoto")
    frame.loc[2, "marital"] = "<script>alert(1)</script>"
    files = [("file", ("x.csv", frame.to_csv(index=False).encode(), "text/csv"))]
    answer = kyoto.post("/team/kyoto/upload", {"once": "number-1"}, files=files)
    assert answer.status_code == 303
    page = kyoto.get(answer.headers["location"]).text
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page


def test_the_same_form_is_submitted_once(cup_site):
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    token = kyoto.token("/account")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: kyoto.upload("kyoto", data, data={"once": "click"}, token=token), range(4)))
    assert {answer.json()["files"][0]["receipt"]["number"] for answer in answers} == {2}
    assert len(cup_site.log()) == 2


def test_the_same_form_with_another_file_is_another_submission(cup_site):
    """After a refusal, the back button leads to the same form, and another file is chosen there."""
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    refused = kyoto.upload("kyoto", b"x", data={"once": "back"})
    assert refused.status_code == 422
    assert kyoto.upload("kyoto", data, data={"once": "back"}).status_code == 200
    other = kyoto.upload("kyoto", cup_site.table("kyoto", age="*"), data={"once": "back"})
    assert other.json()["files"][0]["receipt"]["number"] == 3


def test_a_refused_form_is_checked_again(cup_site):
    """The phase was extended after the refusal; the same form with the same file is accepted now."""
    cup_site.clock.now = START + DAY
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    assert kyoto.upload("kyoto", data, data={"once": "late"}).status_code == 422
    extend(cup_site.played.tournament, Phase.ANONYMIZE, "2030-01-02T18:00+00:00", "snow", START + DAY)
    assert kyoto.upload("kyoto", data, data={"once": "late"}).status_code == 200


@pytest.mark.thorough
def test_a_preview_is_no_submission(cup_site, request):
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    files = [("file", ("x.csv", data, "text/csv"))]
    shown = kyoto.post("/team/kyoto/preview", {"once": "n"}, files=files, headers=JSON).json()
    assert shown["valid"]
    assert shown["utility"] == 1.0
    assert {one["attack"] for one in shown["attacks"]} >= {"baseline:AssignmentLinkage"}
    assert len(cup_site.log()) == 1
    # One baseline attack suffices from here on.
    request.getfixturevalue("one_baseline")
    # The form's other button still submits.
    assert kyoto.upload("kyoto", data, data={"once": "n"}).json()["accepted"] == 1
    again = kyoto.post("/team/kyoto/preview", {"number": "2"}, headers=JSON).json()
    assert again["utility"] == shown["utility"]
    wrong = kyoto.post("/team/kyoto/preview", files=[("file", ("x.csv", b"a\n1\n", "text/csv"))], headers=JSON)
    assert (wrong.status_code, wrong.json()["valid"]) == (422, False)
    assert wrong.json()["problems"]
    page = kyoto.post("/team/kyoto/preview", {"once": "p"}, files=files)
    text = kyoto.get(page.headers["location"]).text
    assert "Nothing was submitted by this preview" in text
    # An attack finds nearly everybody in the originals, so the outcome is no good news.
    assert shown["attacks"][0]["advantage"] >= 0.5
    outcome = text[text.index('id="outcome"') :]
    assert outcome.index('class="refused"') < outcome.index("This table protects little: built-in attack A succeeds in")
    assert 'class="accepted"' not in outcome
    assert "baseline:" not in outcome


def test_the_deadline_holds_by_the_servers_clock(cup_site):
    kyoto, data = cup_site.member("kyoto"), cup_site.table("kyoto")
    cup_site.clock.now = START + DAY - timedelta(seconds=1)
    kyoto = relogged(cup_site, kyoto)
    assert kyoto.upload("kyoto", data).status_code == 200
    cup_site.clock.now = START + DAY
    answer = kyoto.upload("kyoto", data)
    assert answer.status_code == 422
    assert "ended" in answer.json()["files"][0]["message"]


def relogged(site, visitor):
    visitor.post("/log-in", {"name": "kyoto", "password": "correct horse battery"}, page="/log-in")
    return visitor


def at_once(uploads):
    """Outcomes of uploads that are sent at the same time."""
    with ThreadPoolExecutor(len(uploads)) as pool:
        return [one.result() for one in [pool.submit(upload) for upload in uploads]]


@pytest.mark.thorough
def test_of_twenty_uploads_at_once_exactly_those_within_the_quota_are_accepted(cup_site):
    kyoto, frame = cup_site.member("kyoto"), cup_site.played.frame("kyoto").astype(object)
    token, settings = kyoto.token(), cup_site.folder / "tournament.toml"
    tables = []
    for number in range(20):
        changed = frame.copy()
        changed.loc[number % 10, "age" if number < 10 else "education"] = "*"
        tables.append(csv_bytes(changed))
    quota = sum(sorted(map(len, tables))[-3:])
    settings.write_text(re.sub(r"quota = \d+", f"quota = {quota}", settings.read_text()))
    answers = at_once([partial(kyoto.upload, "kyoto", one, token=token) for one in tables])
    accepted = [one for one in answers if one.status_code == 200]
    assert len(accepted) == 3
    assert {one.status_code for one in answers if one not in accepted} == {422}
    assert all("exceed what is left" in one.text for one in answers if one not in accepted)
    entries = [entry for entry in cup_site.log() if entry.kind == "submitted"]
    assert len(entries) == 3
    assert sum(entry.details["bytes"] for entry in entries) <= quota


@pytest.mark.thorough
def test_nothing_of_a_team_is_accepted_after_its_disqualification(cup_site):
    kyoto, host, table = cup_site.member("kyoto"), cup_site.member("host"), cup_site.table("kyoto")
    token, host_token = kyoto.token(), host.token("/host")
    uploads = [partial(kyoto.upload, "kyoto", table + b"\n" * number, token=token) for number in range(10)]
    decision = {"team": "kyoto", "reason": "copied", "sure": "yes"}
    uploads.insert(3, partial(host.post, "/host/disqualify", decision, token=host_token, headers=JSON))
    answers = at_once(uploads)
    assert answers.pop(3).status_code == 200
    out = next(entry.number for entry in cup_site.log() if entry.kind == "disqualified")
    entries = [entry for entry in cup_site.log() if entry.kind == "submitted"]
    assert all(entry.number < out for entry in entries)
    assert sum(one.status_code == 200 for one in answers) == len(entries)
    assert all("is disqualified: copied" in one.text for one in answers if one.status_code != 200)


@pytest.mark.thorough
def test_many_attacks_at_once_each_with_its_own_outcome(attack_site):
    nara = attack_site.member("nara")
    good, bad = b"released_row,candidate_row\n0,1\n", b"released_row,candidate_row\n0,99\n"
    attack_site.clock.now = START + DAY + timedelta(hours=1)
    nara.post("/log-in", {"name": "nara", "password": "correct horse battery"}, page="/log-in")
    answer = nara.upload("nara", good, bad, names=["nara_attack_kyoto.csv", "nara_attack_osaka.csv"])
    assert answer.status_code == 422
    assert [one["accepted"] for one in answer.json()["files"]] == [True, False]
    answer = nara.upload("nara", good, names=["whatever.csv"], data={"against": "osaka"})
    assert answer.json()["files"][0]["receipt"]["against"] == "osaka"
    answer = nara.upload("nara", good, names=["whatever.csv"])
    assert "which team" in answer.json()["files"][0]["message"]
    answer = nara.upload("nara", good, names=["kyoto_attack_osaka.csv"])
    assert "not by nara" in answer.json()["files"][0]["message"]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/tmp/evil.csv", "a\x00b.csv", "kyoto_anonymized.csv/..", "é.csv", "." * 300, "CON"]
)
def test_no_file_name_of_a_client_reaches_the_disk(cup_site, name, monkeypatch):
    import os
    from pathlib import Path

    kyoto, created = cup_site.member("kyoto"), []
    real = os.open

    def watched(path, flags, *more, **given):
        if flags & os.O_CREAT:
            created.append(Path(os.fsdecode(path)))
        return real(path, flags, *more, **given)

    monkeypatch.setattr(os, "open", watched)
    answer = kyoto.upload("kyoto", cup_site.table("kyoto"), names=[name])
    monkeypatch.undo()
    assert answer.status_code in (200, 400)
    assert created or answer.status_code == 400
    for path in created:
        assert path.resolve().is_relative_to(cup_site.folder / "host")
        assert not any(part in str(path) for part in ("passwd", "evil", "CON", "é", "....."))
    assert not list((cup_site.folder / "host" / "uploads").iterdir())


def raw(visitor, body, boundary="b", **headers):
    return visitor.client.post(
        "/team/kyoto/upload",
        content=body,
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}", **JSON, **headers},
    )


def part(name, content, filename=None, **headers):
    file = f'; filename="{filename}"' if filename is not None else ""
    lines = [
        f'Content-Disposition: form-data; name="{name}"{file}',
        *(f"{key}: {value}" for key, value in headers.items()),
    ]
    return b"--b\r\n" + "\r\n".join(lines).encode() + b"\r\n\r\n" + content + b"\r\n"


END = b"--b--\r\n"


@pytest.mark.thorough
def test_bombs_are_refused_early(cup_site):
    """A long body without a length, too many files, too many fields, compressed bodies: none is kept or expanded."""
    kyoto = cup_site.member("kyoto")
    token = part("form_token", kyoto.token("/account").encode())
    before = len(cup_site.log())
    sent = []

    def endless():
        yield part("file", b"", "x")[:-2]
        for _ in range(100):
            sent.append(1)
            yield b"x" * (1 << 20)

    status, text = kyoto.stream("/team/kyoto/upload", endless(), **{"content-type": "multipart/form-data; boundary=b"})
    assert (status, len(sent)) == (413, 5)
    assert b"4 MB" in text
    many_files = token + b"".join(part("file", b"a", f"{n}.csv") for n in range(300)) + END
    assert raw(kyoto, many_files).status_code == 413
    without_names = token + part("file", b"", "") * 300 + END
    assert raw(kyoto, without_names).status_code == 413
    many_fields = token + b"".join(part(f"f{n}", b"a") for n in range(100)) + END
    assert raw(kyoto, many_fields).status_code == 413
    long_field = token + part("f", b"a" * (1 << 20)) + END
    assert raw(kyoto, long_field).status_code == 413
    bomb = gzip.compress(b"0" * (8 << 20))
    assert raw(kyoto, bomb, **{"Content-Encoding": "gzip"}).status_code == 415
    encoded = token + part("file", b"a", "x.csv", **{"Content-Transfer-Encoding": "base64"}) + END
    assert raw(kyoto, encoded).status_code == 415
    long_header = b"--b\r\nContent-Disposition: " + b"x" * 100_000
    assert raw(kyoto, long_header).status_code == 400
    assert raw(kyoto, token + b"--b\r\n").status_code == 400
    assert raw(kyoto, b"nonsense", "").status_code == 400
    assert len(cup_site.log()) == before
    assert not list((cup_site.folder / "host" / "uploads").iterdir())


def test_a_length_that_is_too_large_is_refused_before_a_byte_is_read(cup_site):
    kyoto = cup_site.member("kyoto")

    def unread():
        raise AssertionError("the body was read")
        yield b""

    headers = {"content-type": "multipart/form-data; boundary=b", "content-length": str(1 << 40)}
    assert kyoto.stream("/team/kyoto/upload", unread(), **headers)[0] == 413
    # Nor is the body of somebody who may not upload.
    headers["content-length"] = "100"
    assert cup_site.visitor().stream("/team/kyoto/upload", unread(), **headers)[0] == 401


@pytest.mark.thorough
def test_uploads_are_limited_in_time(cup_site):
    kyoto = cup_site.member("kyoto")
    token = kyoto.token("/account")
    statuses = [kyoto.upload("kyoto", b"x", token=token).status_code for _ in range(32)]
    assert statuses == [422] * 30 + [429] * 2
    cup_site.seconds += 120
    assert kyoto.upload("kyoto", b"x", token=token).status_code == 422


def test_without_a_file_nothing_happens(cup_site):
    kyoto = cup_site.member("kyoto")
    answer = kyoto.post("/team/kyoto/upload", files=[("file", ("", b"", "application/octet-stream"))], headers=JSON)
    assert answer.status_code == 422
    assert "choose a file" in answer.json()["error"]


def refusal(answer):
    """Name and message of the one file of an upload, which is refused."""
    [one] = answer.json()["files"]
    assert not one["accepted"]
    return one["file"], one["message"]


@pytest.mark.thorough
def test_a_table_in_the_attack_phase_is_told_what_is_accepted_and_until_when(attack_site):
    kyoto = attack_site.member("kyoto")
    name, message = refusal(kyoto.upload("kyoto", attack_site.table("kyoto")))
    assert message.startswith(f"{name}: is named as a table, but the phase is attack: only attacks are accepted until")
    assert "until 2030-01-03T12:00:00+00:00; an attack is named kyoto_attack_TEAM.csv" in message


def test_an_attack_while_tables_are_submitted_is_told_what_is_accepted_and_until_when(cup_site):
    kyoto, name = cup_site.member("kyoto"), "kyoto_attack_osaka.csv"
    shown, message = refusal(kyoto.upload("kyoto", b"released_row,candidate_row\n0,1\n", names=[name]))
    assert shown == name
    assert "the phase is anonymize: only tables are accepted until 2030-01-02T12:00" in message


@pytest.mark.thorough
def test_outcomes_name_the_file_as_its_team_did(cup_site):
    """The server's own name for the file appears in no outcome."""
    kyoto, data, settings = cup_site.member("kyoto"), cup_site.table("kyoto"), cup_site.folder / "tournament.toml"
    assert refusal(kyoto.upload("kyoto", b"x", names=["C:\\work/表 <b>2.csv"]))[0] == "表 <b>2.csv"
    answer = kyoto.post("/team/kyoto/preview", files=[("file", ("mine.csv", b"x", "text/csv"))], headers=JSON)
    assert answer.json()["file"] == "mine.csv"
    settings.write_text(re.sub(r"quota = \d+", "quota = 9", settings.read_text()))
    name, message = refusal(kyoto.upload("kyoto", data, names=["mine.csv"]))
    assert (name, message[:14]) == ("mine.csv", "mine.csv: its ")
    assert len(refusal(kyoto.upload("kyoto", b"x", names=["a" * 300 + "\u202e.csv"]))[0]) == 80
