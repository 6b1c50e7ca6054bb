"""Ranks are fair: nothing handed in is last, ties are broken by the stated rule and said, blind phases are blind."""

import csv
import io
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import combinations, permutations

import pandas as pd
import pytest
from run_tools import invoke
from tournament_tools import HOUR, START, opened, score

from leaderboard.pages.report import Section, report_to_terminal
from leaderboard.results.result import Result
from leaderboard.results.store import Store
from metrics.score import Score
from scenarios.running.workers.isolation import TaskStep
from scenarios.tournament.host import boards as updating
from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.boards import (
    PAGES,
    SCORING_GOES_ON,
    Board,
    failed_of,
    remark,
    standings_csv,
    standings_table,
    update_boards,
    what_counts,
    write_boards,
    write_reports,
)
from scenarios.tournament.host.decisions import disqualify
from scenarios.tournament.rules import scoring
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.scoring import score_target, scoring_plan
from scenarios.tournament.rules.settings import duration_text, seconds_in
from scenarios.tournament.rules.standings import standings


def table(team, utility, status="ok"):
    values = {"utility_counted": utility, "table": utility, "record": utility}
    values = values if status == "ok" else {}
    return Result(key=f"{team} ", scenario="t", defense=team, play=0, values=values, status=status)


def attack(attacker, team, rate, status="ok"):
    scores = {"reidentification": Score("reidentification", rate, 0.0, 10)} if status == "ok" else {}
    key = f"{attacker} {team}"
    return Result(key=key, scenario="t", defense=team, attack=attacker, play=0, scores=scores, status=status)


def ranks(teams, results, **options):
    return {one.team: one.rank for one in standings(teams, results, **options)}


class TestOrder:
    def test_a_team_that_handed_in_nothing_is_last(self):
        """Before, its attack of 0 outranked that of the only team with a table, and it came first."""
        found = standings(["nobody", "worker"], [table("worker", 0.5)])
        assert [(one.team, one.rank) for one in found] == [("worker", 1), ("nobody", 2)]
        assert found[1].attack is None
        assert remark(found[1]) == "handed in nothing"

    def test_however_bad_the_others_are(self):
        results = [table("a", 0.0), table("b", 0.0), attack("a", "b", 0.0), attack("c", "a", 0.0)]
        assert ranks(["a", "b", "c", "x", "y"], results) == {"a": 1, "b": 2, "c": 3, "x": 5, "y": 5}

    def test_nobody_is_first_where_nobody_handed_in(self):
        assert set(ranks(list("abc"), []).values()) == {3}

    def test_a_tie_is_broken_by_defense_and_said(self):
        results = [table("a", 0.5), table("b", 0.4), attack("b", "a", 0.2), attack("a", "b", 0.1)]
        # Defenses .40 and .36, attacks .1 and .2: the sums of ranks are 3 and 3.
        found = {one.team: one for one in standings(["b", "a"], results)}
        assert (found["a"].rank, found["b"].rank) == (1, 2)
        assert found["a"].tie == "tied with b; decided by defense"
        assert found["b"].tie == "tied with a; decided by defense"

    def test_teams_that_are_equal_in_all_share_a_rank(self):
        results = [table("a", 0.5), table("b", 0.5), table("c", 0.1)]
        found = standings(list("abc"), results)
        assert [one.rank for one in found] == [1, 1, 3]
        assert found[0].tie == "tied with b; shares the rank"
        assert found[2].tie == ""

    def test_the_order_of_addition_decides_nothing(self):
        """The means of .1, .2 and .3 in all orders are equal, and so are those of other rates with the same sum."""
        teams, orders = list("abcd"), list(permutations((0.1, 0.2, 0.3)))
        for chosen in combinations([*orders, (0.15, 0.15, 0.3), (0.05, 0.25, 0.3), (0.6, 0.0, 0.0)], 4):
            results = [table(team, 0.5) for team in teams]
            # The strongest attack on each table is the same, so that only attacks can differ.
            results += [attack("baseline:x", team, 0.9) for team in teams]
            for team, rates in zip(teams, chosen, strict=True):
                targets = [other for other in teams if other != team]
                results += [attack(team, target, rate) for target, rate in zip(targets, rates, strict=True)]
            found = standings(teams, results)
            assert {(one.rank, one.attack_rank, one.defense_rank) for one in found} == {(1, 1, 1)}, chosen
            assert all(one.tie.endswith("; shares the rank") for one in found)

    def test_noise_in_the_last_bit_breaks_no_tie(self):
        """Neither in the ranks, nor in what breaks ties of their sums."""
        noisy = 0.1 + 0.2
        assert noisy > 0.3
        found = standings(["a", "b"], [table("a", 0.3), table("b", noisy)])
        assert [(one.rank, one.defense_rank) for one in found] == [(1, 1), (1, 1)]

    def test_a_disqualified_team_does_not_count_and_is_named(self):
        results = [table("a", 0.5), table("b", 0.4), attack("b", "a", 1.0), attack("a", "b", 0.5)]
        found = standings(["b", "a"], results, {"b": "cheated"})
        assert [(one.team, one.rank, one.defense, one.attack) for one in found] == [
            ("a", 1, 0.5, None),
            ("b", 2, None, None),
        ]
        assert remark(found[1]) == "disqualified: cheated"

    def test_failed_scorings_are_missing(self):
        results = [table("a", 0.5), attack("b", "a", 0.3), attack("c", "a", None, "timeout"), table("b", 0, "error")]
        found = {one.team: one for one in standings(list("abc"), results)}
        assert found["b"].defense is None
        assert found["b"].attack == pytest.approx(0.3)
        assert (found["c"].attack, found["c"].missing) == (None, True)
        assert found["b"].unscored == "table could not be scored"


class TestScore:
    """Ranks by defense + attack."""

    def test_originals_a_missing_file_and_a_slow_baseline_are_worth_nothing(self):
        honest = {"a": (0.6, 0.5, 0.2), "b": (0.5, 0.4, 0.1), "c": (0.7, 0.8, 0.05)}
        results = [table(team, utility) for team, (utility, _, _) in honest.items()]
        results += [attack("baseline:x", team, found) for team, (_, found, _) in honest.items()]
        results += [attack(team, "originals", rate) for team, (_, _, rate) in honest.items()]
        # The originals are found by everybody, and this team attacks nobody.
        results += [table("originals", 1.0), attack("baseline:x", "originals", 1.0)]
        # This table is useful, and no attack ended in time.
        results += [table("slow", 0.9), attack("baseline:x", "slow", None, "timeout")]
        teams = [*honest, "originals", "slow", "nobody"]
        found = {one.team: one for one in standings(teams, results, ranking="score")}
        assert [found[team].rank for team in teams] == [1, 2, 3, 4, 4, 6]
        assert (found["slow"].defense, found["slow"].worst.goal) == (0, "did_not_run")
        assert found["originals"].tie == "tied with slow; shares the rank"
        # By ranks, a slow baseline gains.
        assert ranks(teams, results)["slow"] < ranks(teams, results)["c"]

    def test_a_missing_table_costs_as_much_as_missing_attacks(self):
        results = [
            table("a", 0.5),
            attack("b", "a", 0.5),
            attack("b", "c", 0.5),
            table("c", 0.5),
            attack("a", "c", 0.5),
        ]
        # a: .25 + .5, b: 0 + .5, c: .25 + 0.
        assert ranks(list("abc"), results, ranking="score") == {"a": 1, "b": 2, "c": 3}

    def test_equal_sums_share_the_rank(self):
        results = [table("a", 0.5), attack("a", "b", 0.1), table("b", 0.5), attack("b", "a", 0.2)]
        # Sums: .5 x .8 + .1 and .5 x .9 + .2.
        assert ranks(["a", "b"], results, ranking="score") == {"a": 2, "b": 1}
        even = [table("a", 0.5), table("b", 0.25), attack("b", "a", 0.2), attack("a", "b", 0.2)]
        found = standings(["a", "b"], [*even[:1], table("b", 0.5), *even[2:]], ranking="score")
        assert [(one.rank, one.tie) for one in found] == [
            (1, "tied with b; shares the rank"),
            (1, "tied with a; shares the rank"),
        ]

    def test_a_baseline_that_waits_or_does_not_apply_costs_nothing(self):
        for status in ("waiting", "skipped"):
            results = [table("a", 0.5), attack("baseline:x", "a", None, status)]
            assert standings(["a"], results, ranking="score")[0].defense == 0.5

    @pytest.mark.parametrize("ranking", ["score", "ranks"])
    @pytest.mark.parametrize(("status", "expected"), [("timeout", 1), ("error", 1), ("waiting", 0), ("skipped", 0)])
    def test_a_baseline_that_did_not_run_is_on_the_board(self, ranking, status, expected):
        name = "baseline:FellegiSunter"
        results = [table("a", 0.5), attack(name, "a", None, status), attack("b", "a", 0.1), table("b", 0.5)]
        found = {one.team: remark(one) for one in standings(["a", "b"], results, ranking=ranking)}
        assert found["a"].count("built-in attack C did not run") == expected
        assert "did not run" not in found["b"]


@pytest.mark.parametrize(
    ("table", "attack", "said"),
    [
        ("a", "", "your table"),
        ("a", "baseline:FellegiSunter", "built-in attack C on your table"),
        ("a", "b", ""),
        ("b", "a", "your attack on 京都"),
        ("b", "", ""),
        ("b", "baseline:FellegiSunter", ""),
    ],
)
def test_a_failure_is_said_of_what_failed(table, attack, said):
    """A table is not at fault for an attack that took too long, and nobody hears of other teams' failures."""
    assert failed_of("a", table, attack, {"b": "京都"}) == said


class TestUnscored:
    """Who handed in something is never said to have handed in nothing."""

    @pytest.mark.parametrize(
        ("status", "said"),
        [("waiting", "not scored yet"), ("error", "could not be scored"), ("oom", "could not be scored")],
    )
    def test_a_file_without_a_score_is_said(self, status, said):
        results = [table("a", 0.5), table("b", 0.5, status), attack("c", "a", None, status)]
        found = {one.team: remark(one) for one in standings(list("abcd"), results)}
        assert found == {"a": "", "b": f"table {said}", "c": f"attacks {said}", "d": "handed in nothing"}

    def test_a_disqualification_or_a_tie_is_said_as_well(self):
        results = [table("a", 0.5, "error"), attack("a", "c", 0.2), table("c", 0.5), attack("b", "c", 0.2)]
        found = {one.team: remark(one) for one in standings(list("abc"), results)}
        assert found["a"] == "table could not be scored; tied with b; shares the rank"
        found = {one.team: remark(one) for one in standings(list("abc"), results, {"a": "cheated"})}
        assert found["a"] == "disqualified: cheated"

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_standings_are_final_once_everything_is_stored(self, tmp_path, monkeypatch):
        cup = opened(tmp_path / "cup", originals=10, candidates=20)
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        cup.close()
        tournament = cup.tournament
        kyoto, osaka = scoring_plan(tournament, (1.0,)).waiting

        def store(target):
            with Store(tournament.host / "results.db") as results:
                steps = score_target((tournament.folder, target))
                results.add([one for step in steps if not isinstance(step, TaskStep) for one in step])
            update_boards(Tournament(tournament.folder), 0.5)

        def shown():
            rows = list(csv.DictReader(io.StringIO((tournament.public / "standings.csv").read_text())))
            pages = (tournament.public / "standings.html", tournament.host / "report.html")
            texts = [*(path.read_text() for path in pages), (tournament.team_folder("osaka") / "report.md").read_text()]
            goes_on = {SCORING_GOES_ON in text for text in texts}
            assert {"these standings are final" in text for text in texts} == {not one for one in goes_on}
            return {row["team"]: row["remark"] for row in rows}, {row["status"] for row in rows}, goes_on, texts[-1]

        store(kyoto)
        remarks, status, goes_on, report = shown()
        assert remarks == {"kyoto": "", "osaka": "table not scored yet", "nara": "handed in nothing"}
        assert (status, goes_on) == ({"partial"}, {True})
        assert "Your table is not scored yet." in report
        assert "Scoring failed" not in report
        real = scoring.published
        with monkeypatch.context() as patch:
            patch.setattr(scoring, "published", lambda *of: 1 / 0 if of[1] == "osaka" else real(*of))
            store(osaka)
        remarks, status, goes_on, report = shown()
        assert remarks == {"kyoto": "", "osaka": "table could not be scored", "nara": "handed in nothing"}
        assert (status, goes_on) == ({"final"}, {False})
        assert "Your table could not be scored; see below." in report


class TestShown:
    def test_standings_say_what_they_count(self):
        assert "a secret 50% of each table's rows counts, and membership does not" in what_counts(0.5, closed=False)
        assert "final" in what_counts(1.0, closed=True)
        text = report_to_terminal([Section("x", tables=(standings_table([], {}, what_counts(0.5, closed=False)),))])
        assert "secret 50%" in text

    @pytest.mark.thorough
    def test_what_was_scored_before_the_close_is_not_written_as_final(self, cup, monkeypatch):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        folder, real = cup.tournament.folder, updating.scoring_plan

        def closed_meanwhile(*given):
            monkeypatch.setattr(updating, "scoring_plan", real)
            plan = real(*given)
            cup.close()
            return plan

        monkeypatch.setattr(updating, "scoring_plan", closed_meanwhile)
        with pytest.raises(updating.PhaseChangedError, match="has changed meanwhile"):
            updating.update_boards(Tournament(folder), 0.5)
        assert not (cup.tournament.public / "standings.csv").exists()
        updating.update_boards(Tournament(folder), 0.5)
        assert "partial" in (cup.tournament.public / "standings.csv").read_text()

    def test_missing_is_missing_and_titles_are_no_formulas(self):
        found = standings(["a", "b"], [table("a", 0.5)])
        rows = list(csv.DictReader(io.StringIO(standings_csv(found, {"a": "=1+1", "b": "京都"}))))
        assert [row["title"] for row in rows] == ["'=1+1", "京都"]
        assert {row["status"] for row in rows} == {"provisional"}
        assert (rows[1]["defense"], rows[1]["attack"], rows[1]["remark"]) == ("", "", "handed in nothing")
        shown = standings_table(found, {"b": "京都"}).rows
        assert shown[1][1:3] == ("京都 (b)", None)

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_boards_name_the_disqualified(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        cup.attack("nara", "kyoto", range(30), range(30))
        disqualify(cup.tournament, "nara", "cheated <b>", START + HOUR)
        results = score(cup.tournament, 1.0, 1)
        assert not any(one.attack == "nara" for one in results)
        board = Board(cup.tournament.state(), results, 0.5)
        write_boards(board, board)
        text = (cup.tournament.public / "standings.csv").read_text()
        assert "disqualified: cheated <b>" in text
        page = (cup.tournament.public / "standings.html").read_text()
        assert "cheated &lt;b&gt;" in page
        assert "secret 50%" in page
        write_reports(board)
        assert "Your team is disqualified" in (cup.tournament.team_folder("nara") / "report.md").read_text()

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_hidden_standings_are_shown_at_the_close(self, tmp_path):
        cup = opened(tmp_path / "cup", originals=10, candidates=20, hide_standings=True)
        folder = cup.tournament.folder
        rules = (cup.tournament.team_folder("nara") / "RULES.md").read_text()
        assert "Standings are shown once" in rules
        assert "provisional" not in rules
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        cup.attack("nara", "kyoto", range(10), range(10))
        assert invoke("tournament", "score", folder, "-j", 1).exit_code == 0
        assert not [name for name in PAGES if (cup.tournament.public / name).exists()]
        assert "provisional" in (cup.tournament.host / "standings.csv").read_text()
        report = (cup.tournament.team_folder("kyoto") / "report.md").read_text()
        assert "Utility 1.000" in report
        assert "nara" not in report
        assert "baseline" not in report
        assert "rank" not in report
        cup.close()
        assert invoke("tournament", "score", folder, "-j", 1).exit_code == 0
        assert invoke("tournament", "verify", folder).exit_code == 0
        for folder_of_boards in (cup.tournament.public, cup.tournament.host):
            rows = csv.DictReader(io.StringIO((folder_of_boards / "standings.csv").read_text()))
            assert {row["status"] for row in rows} == {"final"}
        assert "Strongest attacks" in (cup.tournament.team_folder("kyoto") / "report.md").read_text()


@pytest.mark.usefixtures("one_baseline")
def test_verify_finds_boards_and_results_that_were_changed_since_they_were_published(tmp_path):
    cup = opened(tmp_path / "cup", originals=10, candidates=20)
    cup.hand_in("kyoto", cup.frame("kyoto"))
    cup.publish()
    update_boards(cup.tournament, 0.5)
    score(cup.tournament, 1.0, 1)
    update_boards(cup.tournament, 0.5)
    assert "unchanged" in verify(cup.tournament)
    standings_file, results = cup.tournament.public / "standings.csv", cup.tournament.host / "results.db"
    written = standings_file.read_bytes()
    standings_file.write_bytes(written.replace(b"kyoto", b"osaka", 1))
    with pytest.raises(ValueError, match=r"standings\.csv: was changed since the last publication"):
        verify(cup.tournament)
    standings_file.write_bytes(written)
    with closing(sqlite3.connect(results)) as connection, connection:
        connection.execute("UPDATE tokumei_results SET seconds = seconds + 1")
    with pytest.raises(ValueError, match=r"results\.db: \d of \d results were changed or removed since"):
        verify(cup.tournament)
    # An earlier version published without a log.
    (cup.tournament.host / "published.jsonl").unlink()
    assert "unchanged" in verify(cup.tournament)


PUBLISHED = datetime(2030, 1, 2, 12, tzinfo=UTC)
"""When `publish` opens the attack phase of a test's tournament, which ends a day later."""


class TestTimesOfPublication:
    """A team that probes the board with single rows learns of them at set times only."""

    @pytest.mark.parametrize(
        ("settings", "written", "hours", "partial", "expected"),
        [
            ({}, 1.0, 2.0, True, True),
            # Every 5 hours, counted back from the end: 4, 9, 14, 19 and 24 hours after the opening.
            ({"publish_every": 5 * 3600}, None, 0.1, False, True),
            ({"publish_every": 5 * 3600}, None, 0.1, True, False),
            ({"publish_every": 5 * 3600}, None, 0.2, True, True),
            ({"publish_every": 5 * 3600}, 0.1, 3.9, False, False),
            ({"publish_every": 5 * 3600}, 0.1, 4.0, False, True),
            ({"publish_every": 5 * 3600}, 0.1, 4.0, True, False),
            ({"publish_every": 5 * 3600}, 0.1, 4.2, True, True),
            ({"publish_every": 5 * 3600}, 4.0, 8.9, False, False),
            ({"publish_every": 5 * 3600}, 4.0, 9.1, False, True),
            ({"publish_every": 5 * 3600}, 4.0, 23.9, False, True),
            ({"publish_every": 5 * 3600}, 19.1, 23.9, False, False),
            ({"publish_every": 5 * 3600}, 19.1, 24.1, False, True),
            ({"publish_every": 5 * 3600}, 24.1, 30.0, False, False),
            # Frozen from 18 hours after the opening on; the last time before it is 14.
            ({"publish_every": 5 * 3600, "freeze": 6 * 3600}, 9.1, 14.1, False, True),
            ({"publish_every": 5 * 3600, "freeze": 6 * 3600}, 14.1, 19.1, False, False),
            ({"publish_every": 5 * 3600, "freeze": 6 * 3600}, 9.1, 19.1, False, False),
            ({"freeze": 6 * 3600}, 1.0, 17.9, True, True),
            ({"freeze": 6 * 3600}, 17.9, 18.1, False, False),
            ({"freeze": 6 * 3600}, None, 18.1, False, True),
        ],
    )
    def test_when_standings_are_due(self, state_of, settings, written, hours, partial, expected):
        last = None if written is None else PUBLISHED + written * HOUR
        assert state_of(settings).publishes(last, PUBLISHED + hours * HOUR, partial=partial) is expected

    @pytest.fixture
    def state_of(self, tmp_path):
        """State of a tournament in its attack phase, by settings."""

        def state(settings):
            cup = opened(tmp_path / "cup", originals=5, candidates=10, **settings)
            cup.publish()
            return cup.tournament.state()

        return state

    @pytest.mark.parametrize("settings", [{"publish_every": 3600}, {"freeze": 3600}])
    def test_the_close_publishes_whatever_the_time(self, tmp_path, settings):
        cup = opened(tmp_path / "cup", originals=5, candidates=10, **settings)
        cup.publish()
        cup.close()
        for written in (None, PUBLISHED + 23.9 * HOUR):
            assert cup.tournament.state().publishes(written, PUBLISHED + 24 * HOUR)

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_neither_boards_nor_reports_tell_before_the_time(self, tmp_path):
        # The present, as the file system has it.
        now = datetime.fromtimestamp(tmp_path.stat().st_mtime, UTC)
        ends = {"anonymize_until": (now - HOUR).isoformat(), "attack_until": (now + 11 * HOUR).isoformat()}
        cup = opened(
            tmp_path / "cup", originals=10, candidates=20, now=now - 99 * HOUR, publish_every=12 * 3600, **ends
        )
        folder, public = cup.tournament.folder, cup.tournament.public
        assert "updated every 12 hours, counted back" in (cup.tournament.team_folder("nara") / "RULES.md").read_text()
        cup.hand_in("kyoto", cup.frame("kyoto"), now=now - 98 * HOUR)
        advance(cup.tournament, now)
        shown = [*(public / name for name in PAGES), *folder.glob("teams/*/report.md")]

        def scored():
            done = invoke("tournament", "score", folder, "-j", 1)
            assert done.exit_code == 0, done.output
            return done.output, [one.read_bytes() for one in shown if one.exists()]

        first = scored()
        assert "for everybody" in first[0]
        probe = pd.DataFrame({"released_row": [0], "candidate_row": [0]})
        cup.hand_in("nara", probe, now=now + HOUR, name="nara_attack_kyoto.csv")
        second = scored()
        assert second[1] == first[1]
        assert "stay as they are until it is time" in second[0]
        assert "nara" in (cup.tournament.host / "matrix.csv").read_text()
        os.utime(public / "standings.csv", (0, 0))
        assert "for everybody" in scored()[0]
        assert "nara" in (public / "matrix.csv").read_text()

    def test_times_in_words(self, tmp_path):
        assert [seconds_in(one) for one in ("30min", "12h", "2 d", "90s")] == [1800, 43200, 172800, 90]
        assert [duration_text(one) for one in (1800, 43200, 172800, 90, 3600)] == [
            *("30 minutes", "12 hours", "2 days", "90 seconds", "1 hour"),
        ]
        (tmp_path / "teams.txt").write_text("kyoto\nosaka\n")
        given = ("--dataset", "bank", "--teams", tmp_path / "teams.txt", "--originals", 5, "--candidates", 10)
        ends = ("--anonymize-until", "2090-05-31", "--attack-until", "2090-06-02")
        for option in ("--publish-every", "--freeze"):
            for wrong in ("12", "h", "0h", "-1h", "1.5h", "nan", "99999999d", "12 hours"):
                done = invoke("tournament", "init", tmp_path / "cup", *given, *ends, option, wrong)
                assert (done.exit_code, f"{option}: {wrong!r} is no length of time" in done.output) == (2, True)
        assert invoke("tournament", "init", tmp_path / "cup", *given, *ends, "--freeze", "2h").exit_code == 0
        settings = Tournament(tmp_path / "cup").settings
        assert (settings.publish_every, settings.freeze) == (43200, 7200)
        assert invoke("tournament", "init", tmp_path / "old", *given, *ends, "--publish-every", "always").exit_code == 0
        old = tmp_path / "old" / "tournament.toml"
        assert "publish_every" not in old.read_text()
        assert Tournament(tmp_path / "old").settings.publication == ""
