"""What one team does to its folder or sends too much of concerns nobody else."""

import hashlib

import pytest
from click.testing import CliRunner
from tournament_tools import HOUR, START, opened

from scenarios.commands.cli import cli
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.submitting import without_blank_lines


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
@pytest.mark.parametrize("how", ["moved", "linked", "file"])
def test_a_team_folder_that_is_gone_costs_only_its_report(tmp_path, how):
    cup = opened(tmp_path / "cup")
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    place = cup.tournament.team_folder("kyoto")
    place.rename(tmp_path / "elsewhere")
    if how == "linked":
        place.symlink_to(tmp_path / "elsewhere")
    elif how == "file":
        place.write_text("")
    done = CliRunner().invoke(cli, ["tournament", "score", str(tmp_path / "cup"), "-j", "1"])
    assert done.exit_code == 0, done.output
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
    assert len(warnings) == 1
    assert "kyoto has no report" in warnings[0]
    assert (cup.tournament.team_folder("osaka") / "report.md").is_file()
    assert not (tmp_path / "elsewhere" / "report.md").exists()
    assert "kyoto" in (cup.tournament.public / "standings.csv").read_text()


def test_blank_lines_are_not_kept(tmp_path):
    cup = opened(tmp_path / "cup")
    plain = cup.frame("kyoto").to_csv(index=False)
    first = cup.hand_in("kyoto", plain)
    padded = "\n\r\n" + plain.replace("\n", "\n" * 500)
    again = cup.hand_in("kyoto", padded)
    assert again.submission.content == first.submission.content == hashlib.sha256(plain.encode()).hexdigest()
    assert [len(path.read_bytes()) for path in cup.tournament.submissions.iterdir()] == [len(plain)]


def test_messages_name_lines_of_the_file_as_it_was_submitted(tmp_path):
    cup = opened(tmp_path / "cup")
    with pytest.raises(ValueError, match="line 6: is no UTF-8"):
        cup.hand_in("kyoto", b"age\n\n\n\n\n\xff\n")


def test_line_breaks_in_quotes_are_no_blank_lines():
    assert without_blank_lines(b'a\n\n"b\n\nc"\n\r\nd') == b'a\n"b\n\nc"\nd'
    assert without_blank_lines(b"") == b""


def test_the_quota_counts_different_files_of_one_team(tmp_path):
    cup = opened(tmp_path / "cup")
    frame = cup.frame("kyoto")
    size = len(frame.to_csv(index=False))
    path = cup.tournament.folder / "tournament.toml"
    text = path.read_text()
    assert f"quota = {64 << 20}" in text
    assert "keeps at most 64 MiB" in (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
    path.write_text(text.replace(f"quota = {64 << 20}", f"quota = {2 * size + 10}"))
    cup.tournament = Tournament(cup.tournament.folder)
    cup.hand_in("kyoto", frame)
    cup.hand_in("kyoto", frame.iloc[::-1])
    cup.hand_in("kyoto", frame)
    entries = cup.tournament.log.entries()
    with pytest.raises(ValueError, match=f"exceed what is left to kyoto; {2 * size} of {2 * size + 10} bytes are used"):
        cup.hand_in("kyoto", frame.iloc[5:], now=START + 2 * HOUR)
    assert cup.tournament.log.entries() == entries
    assert len(list(cup.tournament.submissions.iterdir())) == 2
    cup.hand_in("osaka", cup.frame("osaka"))


def init(tmp_path, *options):
    (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
    moments = ("--anonymize-until", "2130-01-01T00:00", "--attack-until", "2131-01-01T00:00")
    arguments = (str(tmp_path / "cup"), "--dataset", "bank", "--teams", str(tmp_path / "teams.txt"), *moments, *options)
    return CliRunner().invoke(cli, ["tournament", "init", *arguments])


def test_the_host_chooses_the_quota(tmp_path):
    assert init(tmp_path, "--quota", "20001").exit_code == 0
    assert Tournament(tmp_path / "cup").settings.quota == 20001
    assert "keeps at most 20,001 bytes" in (tmp_path / "cup" / "teams" / "osaka" / "RULES.md").read_text()


@pytest.mark.parametrize("quota", ["0", "-1", "1.5", "nan", "many", "", "1"])
def test_a_quota_that_holds_no_table_is_refused(tmp_path, quota):
    done = init(tmp_path, "--quota", quota)
    assert done.exit_code == 2
    assert "--quota" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "cup").exists()
    if quota == "1":
        assert len(done.stderr.splitlines()) == 1
        assert "the originals of kyoto have" in done.stderr
