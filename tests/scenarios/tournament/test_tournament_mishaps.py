"""Mishaps of a host: errors in one line, nothing lost, and equal files from equal submissions."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tournament_tools import DAY, HOUR, START, opened

from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table
from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.boards import Board, write_boards, write_reports
from scenarios.tournament.host.decisions import give_title
from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import CHECKPOINT_EVERY, Log
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.rules.submitting import submit, submit_all


def run(*arguments):
    return CliRunner().invoke(cli, ["tournament", *map(str, arguments)])


class TestFiles:
    def test_a_table_named_as_another_teams_is_refused(self, cup):
        path = cup.file("osaka", cup.frame("osaka"))
        with pytest.raises(ValueError, match=r"osaka_anonymized.csv: is named as the table of osaka, not of kyoto"):
            submit(cup.tournament, "kyoto", path, START + HOUR)

    def test_whom_an_attack_is_about_must_not_contradict_its_name(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.hand_in("osaka", cup.frame("osaka"))
        cup.publish()
        answers = pd.DataFrame({"released_row": [0], "candidate_row": [1]})
        with pytest.raises(ValueError, match="is named as an attack on 'kyoto', not on osaka"):
            cup.hand_in("nara", answers, now=START + DAY + HOUR, name="nara_attack_kyoto.csv", against="osaka")
        with pytest.raises(ValueError, match="is named as an attack by 'kyoto', not by nara"):
            cup.hand_in("nara", answers, now=START + DAY + HOUR, name="kyoto_attack_osaka.csv", against="osaka")
        cup.hand_in("nara", answers, now=START + DAY + HOUR, name="answers.csv", against="osaka")

    @pytest.mark.thorough
    def test_many_files_are_taken_one_by_one(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        answers = pd.DataFrame({"released_row": [0], "candidate_row": [1]})
        paths = [cup.file("nara", answers, f"nara_attack_{target}.csv") for target in ("kyoto", "kobe", "osaka")]
        reports = list(submit_all(cup.tournament, "nara", paths, START + DAY + HOUR))
        assert [isinstance(one, ValueError) for one in reports] == [False, True, False]
        assert "no team 'kobe'" in str(reports[1])
        assert "4 accepted files" in verify(cup.tournament)

    @pytest.mark.thorough
    def test_the_command_takes_many_files_and_names_the_refused(self, tmp_path):
        (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
        moments = ("--anonymize-until", "2130-01-01T00:00", "--attack-until", "2131-01-01T00:00")
        sizes = ("--originals", 20, "--candidates", 40)
        done = run("init", tmp_path / "cup", "--dataset", "bank", "--teams", tmp_path / "teams.txt", *moments, *sizes)
        assert (done.exit_code, "warning" in done.stderr) == (0, False)
        from tournament_tools import Played

        cup = Played(Tournament(tmp_path / "cup"))
        good = cup.file("kyoto", cup.frame("kyoto"))
        bad = cup.file("kyoto", cup.frame("kyoto").assign(age="old"), "bad.csv")
        done = run("submit", tmp_path / "cup", "kyoto", bad, good)
        assert done.exit_code == 2
        assert "refused: bad.csv, row 0 (line 2), column 'age'" in done.stderr
        assert "1 of 2 files were refused" in done.stderr
        assert "accepted: kyoto's table, 20 rows" in done.stdout

    @pytest.mark.thorough_beyond(1)
    @pytest.mark.parametrize("separator", [";", "\t"])
    def test_other_separators_are_taken(self, cup, separator):
        plain = cup.hand_in("kyoto", cup.frame("kyoto"), measure=True)
        other = cup.hand_in("kyoto", cup.frame("kyoto").to_csv(index=False, sep=separator), measure=True)
        assert other.utility == plain.utility
        with pytest.raises(ValueError, match=r"row 0 .line 2., column 'age': 'old' is no number"):
            cup.hand_in("kyoto", cup.frame("kyoto").assign(age="old").to_csv(index=False, sep=separator))

    def test_row_numbers_are_named(self, cup):
        with pytest.raises(ValueError, match="column '' \\(row numbers\\? save it without them\\)"):
            cup.hand_in("kyoto", cup.frame("kyoto").to_csv())


class TestInit:
    def run(self, tmp_path, *changes):
        (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
        return run("init", tmp_path / "cup", "--dataset", "bank", "--teams", tmp_path / "teams.txt", *changes)

    def test_a_wrong_moment_names_its_option(self, tmp_path):
        done = self.run(tmp_path, "--anonymize-until", "2130-01-01", "--attack-until", "tomorrow")
        assert done.exit_code == 2
        assert done.stderr.startswith("Error: --attack-until: 'tomorrow' is no moment")
        assert "pydantic" not in done.stderr

    def test_a_title_is_shown_on_every_page(self, tmp_path):
        until = ("--anonymize-until", "2130-01-01", "--attack-until", "2131-01-01")
        done = self.run(tmp_path, *until, "--title", "  匿名  <Cup> ")
        assert done.exit_code == 0, done.output
        settings = Tournament(tmp_path / "cup").settings
        assert settings.title == "匿名 <Cup>"
        rules = (tmp_path / "cup" / "teams" / "kyoto" / "RULES.md").read_text()
        assert "# Rules: 匿名 <Cup>" in rules
        assert "| integers from " in rules

    @pytest.mark.parametrize("title", ["", " ", "x" * 81, "cup\x1b[31m"])
    def test_a_wrong_title_is_refused(self, tmp_path, title):
        until = ("--anonymize-until", "2130-01-01", "--attack-until", "2131-01-01")
        done = self.run(tmp_path, *until, "--title", title)
        assert done.exit_code == 2
        assert "of the tournament: " in done.stderr
        assert not (tmp_path / "cup").exists()

    def test_a_chosen_seed_is_warned_of(self, tmp_path):
        done = self.run(tmp_path, "--anonymize-until", "2130-01-01", "--attack-until", "2131-01-01", "--seed", 1)
        assert (done.exit_code, "knows every secret" in done.stderr) == (0, True)

    @pytest.mark.thorough
    def test_numbers_of_many_digits_keep_the_rules_themselves(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {"share": rng.random(200), "weight": rng.normal(70, 10, 200), "ill": rng.random(200) < 0.3}
        )
        frame.loc[::7, "weight"] = np.nan
        frame.to_csv(tmp_path / "own.csv", index=False)
        cup = opened(tmp_path / "cup", dataset=load_table(tmp_path / "own.csv", None))
        original = (cup.tournament.team_folder("kyoto") / "kyoto_original.csv").read_text().splitlines()
        table = [f"{line},{'original_row' if number == 0 else number - 1}" for number, line in enumerate(original)]
        assert cup.hand_in("kyoto", "\n".join(table), measure=True).utility.counted == pytest.approx(1.0)
        rules = (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
        assert "| `share` | numbers with at most 6 digits after the point from 0." in rules


class TestFolder:
    def test_a_log_that_is_gone_is_not_begun_anew(self, cup):
        cup.tournament.log.path.unlink()
        for command in ("verify", "advance", "score"):
            done = run(command, cup.tournament.folder)
            assert done.exit_code != 0
            assert "does not begin with the opening of this tournament" in done.stderr
        with pytest.raises(ValueError, match="put it back"):
            cup.hand_in("kyoto", cup.frame("kyoto"))
        assert not cup.tournament.log.path.exists()

    def test_published_files_that_were_deleted_come_back(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        publish_again(cup.tournament)
        assert not list(cup.tournament.public.iterdir())
        cup.publish()
        before = {path.name: path.read_bytes() for path in cup.tournament.public.iterdir()}
        (cup.tournament.public / "kyoto_anonymized.csv").unlink()
        (cup.tournament.public / "nara_candidate.csv").unlink()
        publish_again(cup.tournament)
        assert before == {path.name: path.read_bytes() for path in cup.tournament.public.iterdir()}

    def test_a_folder_may_move(self, cup, tmp_path):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        moved = cup.tournament.folder.rename(tmp_path / "elsewhere")
        assert "1 accepted files" in verify(Tournament(moved))


class TestCheckpoint:
    @pytest.fixture
    def log(self, tmp_path):
        log = Log(tmp_path / "log.jsonl")
        log.append("opened", {}, START)
        for number in range(CHECKPOINT_EVERY + 5):
            log.append("submitted", {"against": None if number % 10 == 0 else "kyoto", "number": number}, START)
        return log

    def test_it_says_what_the_whole_log_says(self, log):
        entries = log.entries()
        assert log.path.with_name("log.jsonl.checkpoint").is_file()
        for reader in (log, Log(log.path)):
            head = reader.head()
            assert head.lasting == tuple(entry for entry in entries if entry.lasting)
            assert (head.number, head.hash) == (len(entries), entries[-1].hash)
            assert head.size == log.path.stat().st_size

    @pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"sha256": "00", "size": -1, "lasting": []}', "gone"])
    def test_a_damaged_one_is_not_used(self, log, damage):
        path, expected = log.path.with_name("log.jsonl.checkpoint"), log.head()
        path.unlink() if damage == "gone" else path.write_text(damage)
        assert Log(log.path).head() == expected

    def test_changes_before_it_are_seen_at_once(self, log):
        lines = log.path.read_bytes().splitlines(keepends=True)
        log.path.write_bytes(b"".join([*lines[:3], *lines[4:]]))
        for reader in (log, Log(log.path)):
            with pytest.raises(ValueError, match="line 4: was changed"):
                reader.head()
            with pytest.raises(ValueError, match="line 4: was changed"):
                reader.append("submitted", {}, START)

    def test_a_change_of_equal_size_is_seen_by_whoever_read_the_log_before(self, log):
        log.head()
        log.path.write_bytes(log.path.read_bytes().replace(b"kyoto", b"osaka", 1))
        with pytest.raises(ValueError, match="line 3: was changed"):
            log.head()

    def test_one_that_lies_is_seen_by_verify(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        log = cup.tournament.log
        for _ in range(CHECKPOINT_EVERY):
            log.append("scored", {}, START)
        path = log.path.with_name("log.jsonl.checkpoint")
        content = json.loads(path.read_text())
        content["lasting"][1]["details"]["team"] = "osaka"
        path.write_text(json.dumps(content))
        with pytest.raises(ValueError, match="checkpoint: contradicts the log"):
            verify(Tournament(cup.tournament.folder))


def played(folder, jobs, share):
    """All that a host and the teams get to see of one and the same tournament."""
    cup = opened(folder, title="匿名 <Cup>")
    give_title(cup.tournament, "osaka", "大阪大学", START)
    rng = np.random.default_rng(0)
    for team in ("kyoto", "osaka"):
        frame = cup.frame(team).astype({"balance": object})
        frame.loc[rng.random(30) < 0.5, "balance"] = "*"
        cup.hand_in(team, frame)
    cup.publish()
    cup.attack("nara", "kyoto", range(30), range(30))
    cup.attack("osaka", "kyoto", range(5), [0] * 5, 0.5)
    found = score_shares(cup.tournament, (share, 1.0), jobs)
    full, public = (Board(cup.tournament.state(), found[one], one) for one in (1.0, share))
    write_boards(full, public)
    write_reports(public)
    names = ("board.html", "standings.html", "standings.csv", "matrix.csv", "report.md", "anonymized.csv")
    files = {
        str(path.relative_to(cup.tournament.folder)): path.read_bytes()
        for path in cup.tournament.folder.rglob("*")
        if path.name.endswith(names)
    }
    assert len(files) == 2 * 4 + 3 + 2 * 2
    return files


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A played tournament's folder, and the files that its people get to see."""
    folder = tmp_path_factory.mktemp("played") / "one"
    return folder, played(folder, 1, 0.5)


@pytest.mark.thorough
def test_equal_submissions_give_equal_files_byte_for_byte(first, tmp_path):
    assert first[1] == played(tmp_path / "another" / "place", 2, 0.5)


def test_the_page_calls_no_team_incomplete(first):
    page = first[1]["public/board.html"].decode()
    assert "kyoto" in page
    assert "incomplete" not in page.partition("<body")[2].partition("<script")[0]


def test_the_page_shows_the_titles_of_tournament_and_teams(first):
    for name in ("public/board.html", "host/board.html"):
        page = first[1][name].decode()
        assert "<title>Tokumei leaderboard: 匿名 &lt;Cup&gt;</title>" in page
        ranking, matrix = page.partition('class="matrix"')[::2]
        assert 'data-sort="大阪大学 (osaka)"' in ranking
        # There osaka is a defense, and an attacker.
        assert matrix.count("大阪大学 (osaka)") > 1
        assert "singles out" not in page


def test_what_teams_see_before_the_close_names_nobody(first):
    """No candidate's or original's position, no table's content, no member and no secret is in boards and reports."""
    folder, files = first
    tournament = Tournament(folder)
    secrets = {str(tournament.secret["seed"]).encode()} - {b"1"}
    secrets |= {one.details["sha256"].encode() for one in tournament.log.entries() if one.kind == "submitted"}
    seen = {name: data for name, data in files.items() if not name.startswith("host")}
    assert not any(secret in data for secret in secrets for data in seen.values())
    matrix = pd.read_csv(folder / "public" / "matrix.csv")
    assert matrix["membership"].isna().all()
    # A team that answers one row would read from these whether it is right.
    assert matrix[["precision", "top3"]].isna().all(axis=None)
    assert pd.read_csv(tournament.host / "matrix.csv")["precision"].notna().any()
    assert (tournament.host / "board.html").stat().st_mode & 0o077 == 0
