"""A date is the end of its day in a zone that is stated, wherever a deadline is given or shown."""

import re
import time
import tomllib
from datetime import UTC, datetime

import pytest
from run_tools import invoke
from tournament_tools import DAY, START, opened

from scenarios.tournament.host.decisions import write_notices
from scenarios.tournament.rules.settings import Settings, local_text, moment, moment_text
from scenarios.tournament.site.jobs import decide


@pytest.fixture
def zone(monkeypatch):
    """Sets the zone of this machine."""

    def put(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Asia/Tokyo", "2027-05-31", "2027-05-31T14:59:59+00:00"),
        ("America/New_York", "2027-05-31", "2027-06-01T03:59:59+00:00"),
        # The days on which summer time begins and ends have 23 and 25 hours.
        ("America/New_York", "2027-03-14", "2027-03-15T03:59:59+00:00"),
        ("America/New_York", "2027-11-07", "2027-11-08T04:59:59+00:00"),
        ("UTC", "20270531", "2027-05-31T23:59:59+00:00"),
        ("Asia/Tokyo", "2027-05-31T00:00", "2027-05-30T15:00:00+00:00"),
        ("Asia/Tokyo", "2027-05-31T12:00Z", "2027-05-31T12:00:00+00:00"),
    ],
)
def test_a_bare_date_is_the_end_of_its_day_here(zone, name, text, expected):
    zone(name)
    assert moment(text) == expected


@pytest.mark.parametrize("text", ["", "31.05.2027", "2027-05-31+09:00", "2027-02-30", "tomorrow", "2027-05"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(ValueError, match="or as 2026-06-17 for the end of that day"):
        moment(text)


def test_moments_are_worded_with_weekday_zone_and_utc(zone):
    one = datetime(2027, 5, 31, 14, 59, 59, tzinfo=UTC)
    zone("Asia/Tokyo")
    assert moment_text(one) == "Monday 2027-05-31 23:59:59 JST (UTC+09:00), which is Monday 2027-05-31 14:59:59 UTC"
    # A zone without a name of letters.
    zone("Asia/Kathmandu")
    assert local_text(one) == "Monday 2027-05-31 20:44:59 UTC+05:45"
    zone("Asia/Tokyo")
    assert moment_text(datetime.max.replace(tzinfo=UTC)) == "Friday 9999-12-31 23:59:59 UTC"
    zone("UTC")
    assert moment_text(one) == "Monday 2027-05-31 14:59:59 UTC"


@pytest.mark.thorough
def test_init_extend_and_the_rules_state_every_deadline(zone, tmp_path):
    zone("Asia/Tokyo")
    (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
    sizes = ("--originals", 5, "--candidates", 10, "--rounds", 2)
    ends = ("--anonymize-until", "2090-05-31", "--anonymize-again-until", "2090-06-01", "--attack-until", "2090-06-02")
    given = ("--dataset", "bank", "--teams", tmp_path / "teams.txt", *sizes, *ends)
    folder = tmp_path / "cup"
    lines = invoke("tournament", "init", folder, *given).output.splitlines()
    assert lines[1:] == [
        f"phase {phase} ends on {day} 23:59:59 JST (UTC+09:00), which is {day} 14:59:59 UTC"
        for phase, day in (
            ("anonymize", "Wednesday 2090-05-31"),
            ("anonymize-again", "Thursday 2090-06-01"),
            ("attack", "Friday 2090-06-02"),
        )
    ]
    row = "| attack | 2090-06-02 14:59:59+00:00 | Friday 2090-06-02 23:59:59 JST (UTC+09:00) |"
    assert row in (folder / "teams" / "kyoto" / "RULES.md").read_text()
    shown = invoke("tournament", "extend", folder, "attack", "2090-06-05", "--reason", "snow").output
    assert "phase attack ends on Monday 2090-06-05 23:59:59 JST (UTC+09:00)" in shown
    assert "ends at Monday 2090-06-05 23:59:59 JST (UTC+09:00)" in (folder / "public" / "NOTICES.md").read_text()
    assert "Monday 2090-06-05 23:59:59 JST" in (folder / "teams" / "osaka" / "RULES.md").read_text()
    for command in ("init", "extend", "reopen"):
        text = " ".join(invoke("tournament", command, "--help").output.split())
        assert re.search(r"without a time is the end of that day\. Without a zone, (it|MOMENT) is in the zone", text)


@pytest.mark.thorough
def test_init_says_what_it_guessed_of_a_table_and_reads_encodings(tmp_path):
    """The roles that nobody declared, and what names a person; the option is that of all commands on a table."""
    (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
    rows = [f"人{number},{20 + number % 40},{'医者' if number % 2 else '教師'}" for number in range(60)]
    (tmp_path / "people.csv").write_bytes("\n".join(["名前,年齢,仕事", *rows, ""]).encode("cp932"))
    ends = ("--anonymize-until", "2090-05-31", "--attack-until", "2090-06-02")
    sizes = ("--teams", tmp_path / "teams.txt", "--originals", 5, "--candidates", 10, *ends)
    done = invoke("tournament", "init", tmp_path / "cup", "--data", tmp_path / "people.csv", *sizes)
    assert (done.exit_code, "is not UTF-8" in done.output) == (2, True)
    done = invoke("tournament", "init", tmp_path / "no", "--dataset", "bank", "--encoding", "cp932", *sizes)
    assert (done.exit_code, "name it with --data" in done.output) == (2, True)
    given = ("--data", tmp_path / "people.csv", "--encoding", "cp932", *sizes)
    done = invoke("tournament", "init", tmp_path / "cup", *given)
    assert done.exit_code == 0, done.output
    assert "note: no roles declared: every column is a quasi-identifier" in done.output
    assert "warning: 名前: no identifier by role, but text that differs in every record" in done.output
    assert (tmp_path / "cup/teams/kyoto/kyoto_original.csv").read_text(encoding="utf-8").startswith("名前,年齢,仕事\n")


def test_dates_of_toml_mean_the_same(zone, tmp_path):
    """Quoted or not; the settings that `init` writes have a time and a zone and keep their meaning."""
    zone("Asia/Tokyo")
    written = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=5, candidates=10).tournament.settings
    assert written.anonymize_until == (START + DAY).isoformat()
    for text in ("2030-05-31", '"2030-05-31"', "2030-05-31T23:59:59", "2030-05-31T14:59:59Z"):
        end = tomllib.loads(f"end = {text}")["end"]
        settings = Settings.model_validate({**written.model_dump(), "anonymize_until": end})
        assert settings.anonymize_until == "2030-05-31T14:59:59+00:00"


def test_the_form_of_the_site_takes_no_bare_date(cup):
    """Its field is in the viewer's zone, of which a date alone says nothing."""
    fields = {"phase": "attack", "until": "2030-02-01", "reason": "snow"}
    with pytest.raises(ValueError, match="with its time as 2030-01-31T12:00, in UTC"):
        decide(cup.tournament.folder, "extend", fields, START)
    assert "2030-02-01T10:00:00" in decide(
        cup.tournament.folder, "extend", {**fields, "until": "2030-02-01T10:00"}, START
    )
    assert write_notices(cup.tournament) == []
