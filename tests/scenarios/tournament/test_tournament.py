"""A tournament from opening to close: who sees what, what counts, and what does not pay."""

import json
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from own_table_tools import write_table
from tournament_tools import DAY, HOUR, START, opened, score

from metrics.profile import original_profile, profile, record_similarity
from scenarios import load
from scenarios.commands.cli import cli
from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.boards import standings_csv
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.standings import Standing, standings
from scenarios.tournament.rules.submitting import submit


@pytest.fixture
def cup(tmp_path):
    """A tournament of three teams that has just been opened."""
    return opened(tmp_path / "cup")


def ranked(cup, share=1.0):
    found = standings(cup.tournament.settings.teams, score(cup.tournament, share, 1))
    return {one.team: one for one in found}


def noisy(frame, share, rng):
    """Cells of each column exchanged among rows, in a share of the rows."""
    frame = frame.copy()
    for column in frame.columns.drop("original_row"):
        rows = np.flatnonzero(rng.random(len(frame)) < share)
        frame.iloc[rows, frame.columns.get_loc(column)] = frame[column].to_numpy()[rng.permutation(rows)]
    return frame


class TestOpening:
    @pytest.mark.thorough
    def test_nobody_shares_a_record(self, tmp_path):
        tournament, people = opened(tmp_path / "cup", dataset=load("bank")).tournament, []
        for team in tournament.settings.teams:
            originals = tournament.records(tournament.original_path(team)).frame
            candidates = tournament.records(tournament.candidate_path(team)).frame
            inside = candidates.iloc[tournament.answers(team)].reset_index(drop=True)
            pd.testing.assert_frame_equal(inside, originals)
            people.append(candidates)
        others = tournament.records(tournament.others_path).frame
        together = pd.concat([*people, others])
        # Bank has no two equal records, so that equal rows would be one person handed out twice.
        assert not together.duplicated().any()

    def test_the_host_alone_sees_the_host_folder(self, tmp_path):
        cup = opened(tmp_path / "cup", seed=987_654_321)
        host = cup.tournament.host
        assert stat.S_IMODE(host.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in host.rglob("*"))
        assert json.loads((host / "secret.json").read_text())["seed"] == 987_654_321
        for path in [*cup.tournament.folder.glob("teams/**/*"), cup.tournament.folder / "tournament.toml"]:
            assert path.is_dir() or "987654321" not in path.read_text()

    def test_hard_decoys_are_nearer(self, tmp_path):
        def nearest(decoys):
            cup = opened(tmp_path / decoys, decoys=decoys)
            records = cup.tournament.records(cup.tournament.candidate_path("kyoto"))
            domains = {name: records.domain(name) for name in records.released_columns}
            table = original_profile(records.frame, domains)
            alike = record_similarity(table, table, domains)
            own = cup.tournament.answers("kyoto")
            others = np.setdiff1d(np.arange(len(records)), own)
            return alike[np.ix_(own, others)].max(axis=1).mean()

        assert nearest("hard") > nearest("random") + 0.05

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"candidates": 30}, "must exceed"),
            ({"candidates": 40_000}, "need 120000 records"),
            ({"attack_until": (START + HOUR).isoformat()}, "must end after"),
            ({"anonymize_until": "tomorrow"}, "no moment"),
            ({"anonymize_until": "2030-W02"}, "no moment"),
            ({"anonymize_until": "2030W02T12:00"}, "no moment"),
            ({"rounds": 2}, "anonymize-again-until"),
            ({"anonymize_again_until": (START + DAY + HOUR).isoformat()}, "rounds 2"),
        ],
    )
    def test_settings_that_do_not_fit_are_refused(self, tmp_path, changes, said):
        with pytest.raises(ValueError, match=said):
            opened(tmp_path / "cup", dataset=load("bank"), **changes)
        assert not any(tmp_path.iterdir())

    def test_a_table_of_people_with_several_rows_is_refused(self, tmp_path):
        bank = load("bank")
        frame = bank.records.frame.assign(id=np.arange(len(bank.records)) // 2)
        records = replace(bank.records, frame=frame, identifiers=("id",), person="id")
        said = "people of column 'id' have several rows, and a tournament draws rows, not people; make one row"
        with pytest.raises(ValueError, match=said):
            opened(tmp_path / "cup", dataset=replace(bank, records=records))
        assert not any(tmp_path.iterdir())

    def test_a_folder_with_something_in_it_is_left_alone(self, tmp_path):
        (tmp_path / "cup").mkdir()
        (tmp_path / "cup" / "precious").write_text("here")
        with pytest.raises(ValueError, match="exists already"):
            opened(tmp_path / "cup", dataset=load("bank"))
        assert (tmp_path / "cup" / "precious").read_text() == "here"


class TestPhases:
    def test_only_the_open_phase_takes_files(self, cup):
        tables_only = r"the phase is anonymize: only tables are accepted until 2030-01-02T12:00:00\+00:00; attacks are"
        with pytest.raises(ValueError, match=tables_only):
            cup.hand_in("kyoto", cup.frame("kyoto"), against="osaka")
        with pytest.raises(ValueError, match="^kyoto_attack_osaka.csv: is handed in as an attack, but " + tables_only):
            cup.hand_in("kyoto", "released_row,candidate_row\n0,1\n", name="kyoto_attack_osaka.csv")
        with pytest.raises(ValueError, match="ended at"):
            cup.hand_in("kyoto", cup.frame("kyoto"), now=START + DAY)
        with pytest.raises(ValueError, match="runs until"):
            advance(cup.tournament, START + HOUR)
        cup.hand_in("kyoto", cup.frame("kyoto"))
        assert cup.publish() is Phase.ATTACK
        attacks_only = r"the phase is attack: only attacks are accepted until 2030-01-03T12:00:00\+00:00; an attack is"
        with pytest.raises(ValueError, match="^kyoto_anonymized.csv: is named as a table, but " + attacks_only):
            cup.hand_in("kyoto", cup.frame("kyoto"), now=START + DAY + HOUR)
        with pytest.raises(ValueError, match=r"which team does it attack\? The phase is attack"):
            cup.hand_in("kyoto", cup.frame("kyoto"), now=START + DAY + HOUR, name="answers.csv")
        with pytest.raises(ValueError, match="submitted no table"):
            cup.attack("kyoto", "osaka", [0], [0])
        with pytest.raises(ValueError, match="its own table"):
            cup.attack("kyoto", "kyoto", [0], [0])
        cup.attack("osaka", "kyoto", [0], [0])
        assert cup.close() is Phase.CLOSED
        with pytest.raises(ValueError, match="closed"):
            cup.attack("osaka", "kyoto", [0], [0])
        with pytest.raises(ValueError, match="closed"):
            advance(cup.tournament, START + 3 * DAY)

    def test_the_last_valid_file_counts_and_every_version_is_kept(self, cup):
        frame = cup.frame("kyoto")
        first = cup.hand_in("kyoto", frame.iloc[:10])
        second = cup.hand_in("kyoto", frame.iloc[:20])
        with pytest.raises(ValueError, match="age"):
            cup.hand_in("kyoto", frame.assign(age="old"))
        table = cup.tournament.state(cup.tournament.log.entries()).tables["kyoto"]
        assert table.content == second.submission.content
        assert len(cup.tournament.content(first.submission.content)) > 0
        assert "2 accepted files" in verify(cup.tournament)

    @pytest.mark.thorough
    def test_two_rounds_show_the_candidates_before_the_second(self, tmp_path):
        again = (START + DAY + 2 * HOUR).isoformat()
        cup = opened(tmp_path / "cup", rounds=2, anonymize_again_until=again)
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.hand_in("osaka", cup.frame("osaka"))
        assert cup.publish() is Phase.ANONYMIZE_AGAIN
        names = {path.name for path in cup.tournament.public.iterdir()}
        assert names == {f"{team}_candidate.csv" for team in cup.tournament.settings.teams}
        better = noisy(cup.frame("kyoto"), 0.5, np.random.default_rng(0))
        cup.hand_in("kyoto", better, now=START + DAY + HOUR)
        assert advance(cup.tournament, START + DAY + 2 * HOUR) is Phase.ATTACK
        released = pd.read_csv(cup.tournament.public / "kyoto_anonymized.csv", dtype=str)
        assert sorted(released["balance"]) == sorted(better["balance"].astype(str))
        assert (cup.tournament.public / "osaka_anonymized.csv").is_file()

    def test_what_is_published_says_nothing_of_whose_it_is(self, cup):
        frame = cup.frame("kyoto")
        cup.hand_in("kyoto", frame)
        cup.publish()
        released = pd.read_csv(cup.tournament.public / "kyoto_anonymized.csv")
        assert list(released.columns) == list(frame.columns.drop("original_row"))
        assert list(released["balance"]) != list(frame["balance"])
        assert sorted(released["balance"]) == sorted(frame["balance"])


class TestScores:
    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_an_attack_that_knows_everything_and_one_that_knows_nothing(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        cup.attack("osaka", "kyoto", range(30), cup.truth("kyoto"))
        cup.attack("nara", "kyoto", range(30), np.zeros(30, dtype=int))
        cup.close()
        scores = {(one.defense, one.attack): one.scores for one in score(cup.tournament, 1.0, 1)}
        assert scores["kyoto", "osaka"]["reidentification"].rate == 1.0
        assert scores["kyoto", "osaka"]["membership"].rate == 1.0
        # All rows with one guess: at most one row is right.
        assert scores["kyoto", "nara"]["reidentification"].rate <= 1 / 30
        found = ranked(cup)
        assert found["kyoto"].utility == 1.0
        assert found["kyoto"].defense == 0.0
        # Osaka attacked one of the one other table, nara one of two.
        assert found["osaka"].attack == 1.0
        assert (found["nara"].attacked, found["nara"].defense) == (1, None)
        assert found["nara"].defense_rank == 3

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_abstaining_on_all_but_the_sure_row_gains_one_row(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        cup.attack("osaka", "kyoto", [0], [cup.truth("kyoto")[0]])
        cup.close()
        trial = next(one for one in score(cup.tournament, 1.0, 1) if one.attack == "osaka")
        assert trial.scores["reidentification"].rate == pytest.approx(1 / 30)
        assert trial.values["precision"] == 1.0

    @pytest.mark.thorough
    def test_until_the_close_a_share_of_the_rows_counts_and_no_members(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        trials = [one for one in score(cup.tournament, 0.5, 1) if one.attack]
        assert {one.scores["reidentification"].trials for one in trials} == {15}
        assert not any("membership" in one.scores or "membership_auc" in one.values for one in trials)

    # The test that equal submissions give equal files byte for byte is shorter.
    @pytest.mark.long
    def test_equal_submissions_give_equal_boards_whatever_the_workers(self, tmp_path):
        boards = []
        for place, jobs in (("one", 1), ("two", 2)):
            cup = opened(tmp_path / place)
            for team in ("kyoto", "osaka"):
                cup.hand_in(team, noisy(cup.frame(team), 0.3, np.random.default_rng(1)))
            cup.publish()
            cup.attack("nara", "kyoto", range(30), range(30))
            cup.close()
            boards.append(standings_csv(standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, jobs))))
        assert boards[0] == boards[1]

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_scoring_again_computes_nothing_again(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        totals = []
        first = score(cup.tournament, 1.0, 1, lambda done, total: totals.append(total))
        again = score(cup.tournament, 1.0, 1, lambda done, total: totals.append(total))
        assert (first, totals) == (again, [1])
        cup.attack("osaka", "kyoto", [0], [0])
        assert len(score(cup.tournament, 1.0, 1)) == len(first) + 1

    def test_ranks_share_places_and_put_the_missing_last(self):
        from scenarios.tournament.rules.standings import _ranks

        assert _ranks([0.5, None, 0.7, 0.5, None]) == [2, 4, 1, 2, 4]
        assert standings(["a", "b"], []) == [
            Standing(team="a", defense_rank=2, attack_rank=2, rank=2),
            Standing(team="b", defense_rank=2, attack_rank=2, rank=2),
        ]


class TestGaming:
    """No trick scores above the honest use of the same rows.

    Fewer attacks can only raise a score. Where a trick must be worth nothing, one baseline attack thus asks for more.
    """

    @pytest.fixture
    def scored(self, tmp_path_factory):
        def defense(make):
            cup = opened(tmp_path_factory.mktemp("gaming") / "cup", originals=60, candidates=120)
            cup.hand_in("kyoto", make(cup))
            cup.publish()
            cup.close()
            return ranked(cup)["kyoto"]

        return defense

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_all_rows_alike_are_worth_nothing(self, scored):
        constant = scored(
            lambda cup: cup.frame("kyoto").assign(**cup.frame("kyoto").drop(columns="original_row").iloc[0])
        )
        suppressed = scored(
            lambda cup: cup.frame("kyoto").assign(**dict.fromkeys(cup.frame("kyoto").columns[:-1], "*"))
        )
        assert (constant.utility, suppressed.utility) == (0.0, 0.0)
        assert (constant.defense, suppressed.defense) == (0.0, 0.0)

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_the_originals_in_clear_score_nothing_under_any_map(self, scored):
        def lied(cup):
            frame = cup.frame("kyoto")
            return frame.assign(original_row=np.roll(frame["original_row"], 1))

        def nobody(cup):
            return cup.frame("kyoto").assign(original_row="")

        for make in (lambda cup: cup.frame("kyoto"), lied, nobody):
            assert scored(make).defense == pytest.approx(0, abs=1e-9)

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_other_people_are_worth_nothing_under_a_random_map(self, scored):
        def strangers(cup):
            others = pd.read_csv(cup.tournament.others_path).iloc[:60]
            return others.assign(original_row=np.arange(60))

        assert scored(strangers).defense <= 0.02

    @pytest.mark.thorough
    def test_maps_swapped_between_near_identical_records_gain_nothing(self, scored):
        def honest(cup):
            return noisy(cup.frame("kyoto"), 0.4, np.random.default_rng(3))

        def swapped(cup):
            """Each row declared as the original most like its own, in pairs."""
            frame, own = honest(cup), cup.frame("kyoto")
            records = cup.tournament.records(cup.tournament.original_path("kyoto"))
            domains = {name: records.domain(name) for name in records.released_columns}
            alike = record_similarity(original_profile(records.frame, domains), profile(own, domains), domains)
            np.fill_diagonal(alike, -1)
            left, origin = set(range(60)), np.arange(60)
            for one in np.argsort(-alike.max(axis=1)):
                other = max(left - {one}, key=lambda row, one=one: alike[one, row], default=None)
                if one in left and other is not None:
                    origin[[one, other]] = origin[[other, one]]
                    left -= {one, other}
            return frame.assign(original_row=origin)

        assert scored(swapped).defense <= scored(honest).defense + 1e-9

    @pytest.mark.thorough
    def test_keeping_few_rows_is_no_defense(self, scored):
        honest = scored(lambda cup: noisy(cup.frame("kyoto"), 0.3, np.random.default_rng(5)))
        few = scored(lambda cup: noisy(cup.frame("kyoto"), 0.3, np.random.default_rng(5)).iloc[:15])
        assert few.utility_record < honest.utility_record / 2
        assert few.defense <= honest.defense

    @pytest.mark.thorough
    def test_another_teams_candidates_are_worth_nothing(self, tmp_path):
        cup = opened(tmp_path / "cup", rounds=2, anonymize_again_until=(START + DAY + 2 * HOUR).isoformat())
        cup.publish()
        stolen = pd.read_csv(cup.tournament.public / "osaka_candidate.csv").iloc[:30]
        table = stolen.assign(original_row=np.arange(30))
        receipt = cup.hand_in("kyoto", table, now=START + DAY + HOUR, measure=True)
        assert receipt.utility.counted <= 0.02

    @pytest.mark.thorough
    def test_the_order_of_rows_changes_nothing(self, tmp_path):
        utilities = []
        for number, order in enumerate((np.arange(30), np.arange(30)[::-1])):
            cup = opened(tmp_path / str(number))
            frame = noisy(cup.frame("kyoto"), 0.3, np.random.default_rng(0))
            utilities.append(cup.hand_in("kyoto", frame.iloc[order], measure=True).utility)
        assert utilities[0].components == pytest.approx(utilities[1].components)
        assert utilities[0].record == pytest.approx(utilities[1].record)


class TestCommands:
    def run(self, *arguments):
        return CliRunner().invoke(cli, ["tournament", *map(str, arguments)])

    @pytest.mark.thorough
    def test_a_team_learns_how_it_will_fare(self, cup, request):
        path = cup.file("kyoto", noisy(cup.frame("kyoto"), 0.3, np.random.default_rng(0)))
        original = cup.tournament.team_folder("kyoto") / "kyoto_original.csv"
        done = self.run("check", path, "--original", original, "--format", "json")
        assert done.exit_code == 0
        report = json.loads(done.stdout)
        utility = submit(cup.tournament, "kyoto", path, START + HOUR).utility
        assert (report["utility"], report["utility_table"]) == (utility.counted, utility.table)
        assert {one["attack"].partition(":")[0] for one in report["attacks"]} == {"baseline"}
        assert report["defense"] <= report["utility"]
        request.getfixturevalue("one_baseline")
        assert "valid: 30 rows" in self.run("check", path, "--original", original).stdout

    @pytest.mark.thorough
    def test_a_check_needs_nothing_but_the_originals(self, cup, tmp_path):
        path = cup.file("kyoto", cup.frame("kyoto"))
        alone = tmp_path / "alone"
        alone.mkdir()
        for name in ("kyoto_original.csv", "roles.toml"):
            (alone / name).write_bytes((cup.tournament.team_folder("kyoto") / name).read_bytes())
        done = self.run("check", path, "--original", alone / "kyoto_original.csv")
        assert (done.exit_code, "no attack was played" in done.stdout) == (0, True)

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    @pytest.mark.parametrize("complete", [True, False])
    def test_without_the_settings_it_says_that_the_utility_may_differ(self, cup, tmp_path, complete):
        path, place = cup.file("kyoto", cup.frame("kyoto")), cup.tournament.team_folder("kyoto")
        for name in ("kyoto_original.csv", "roles.toml", *(["tournament.toml"] if complete else [])):
            (tmp_path / name).write_bytes((place / name).read_bytes())
        arguments = ("check", path, "--original", tmp_path / "kyoto_original.csv")
        said = "note: there is no tournament.toml beside the originals, so the host's utility may differ"
        assert (said in self.run(*arguments).stdout) is not complete
        assert json.loads(self.run(*arguments, "--format", "json").stdout)["note"].startswith(said) is not complete
        assert "tournament.toml" in self.run("check", "--help").stdout

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_a_whole_tournament_from_the_command_line(self, tmp_path):
        cup, (table, roles) = tmp_path / "cup", write_table(tmp_path, 500)
        sizes = ("--originals", 20, "--candidates", 40)
        done = self.run("simulate", cup, "--data", table, "--roles", roles, *sizes, "-j", 1)
        assert done.exit_code == 0, done.stderr
        assert "mondrian-3" in done.stdout
        for name in ("standings.csv", "standings.html", "matrix.csv", "board.html"):
            assert (cup / "public" / name).read_bytes() == (cup / "host" / name).read_bytes()
        assert "Strongest attacks on it" in (cup / "teams" / "identity" / "report.md").read_text()
        assert self.run("verify", cup).exit_code == 0
        log = cup / "host" / "log.jsonl"
        log.write_text(log.read_text().replace('"team": "identity"', '"team": "constant"', 1))
        done = self.run("verify", cup)
        assert (done.exit_code, "line 2" in done.stderr) == (1, True)

    def test_guides_are_there(self):
        for reader in ("host", "team"):
            assert "tokumei tournament" in self.run("guide", reader).stdout

    @pytest.mark.parametrize("names", ["one", "a\nA", "a\n../b", "a\nb c", ""])
    def test_teams_that_cannot_be_are_refused(self, tmp_path, names):
        (tmp_path / "teams.txt").write_text(names)
        moments = ("--anonymize-until", "2130-01-01T00:00", "--attack-until", "2131-01-01T00:00")
        done = self.run("init", tmp_path / "cup", "--dataset", "bank", "--teams", tmp_path / "teams.txt", *moments)
        assert (done.exit_code, len(done.stderr.strip().splitlines())) == (2, 1)
        assert not (tmp_path / "cup").exists()

    def test_no_tournament_is_bad_input(self, tmp_path):
        for command in (("advance",), ("score",), ("verify",)):
            done = self.run(*command, tmp_path)
            assert (done.exit_code, "is no tournament" in done.stderr) == (2, True)

    @pytest.mark.thorough
    def test_own_records_play_too(self, tmp_path):
        from scenarios.running.methods.invented_people import people
        from scenarios.tables.seeds import generator

        table = people(200, generator(0, "own"))
        table.frame.to_csv(tmp_path / "people.csv", index=False)
        (tmp_path / "roles.toml").write_text('identifiers = ["name"]\nsensitive = ["illness"]\n')
        from scenarios.tables.dataset import load_table

        cup = opened(tmp_path / "cup", dataset=load_table(tmp_path / "people.csv", tmp_path / "roles.toml"))
        frame = cup.frame("kyoto")
        assert "name" not in frame
        assert cup.hand_in("kyoto", frame, measure=True).utility.counted == pytest.approx(1.0)
