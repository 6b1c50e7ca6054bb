"""Failures of a tournament and of a runner on the command line, and the plan of a class."""

import re
import shlex
import shutil
from contextlib import chdir
from datetime import UTC, datetime
from importlib import resources

import pytest
from run_tools import invoke
from tournament_tools import DAY, HOUR, START, opened

from leaderboard import Store, recorded_incidents
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.incidents import REFUSED, UNSCORED, tournament_incidents
from scenarios.tournament.rules.submitting import submit


@pytest.fixture(scope="module")
def opened_class(tmp_path_factory):
    """The tournament of the guide's class, with a fifth of the rows, as the guide's command opens it."""
    place = tmp_path_factory.mktemp("class")
    guide = (resources.files("scenarios.tournament") / "HOST.md").read_text(encoding="utf-8")
    section = guide.partition("## A class of three hours")[2].partition("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.S)[1].replace("\\\n", " ")
    names, opening = block.strip().splitlines()
    (place / "teams.txt").write_text(re.search(r"'(.*?)'", names)[1].replace("\\n", "\n"))
    command = opening.replace("--originals 100 --candidates 200", "--originals 20 --candidates 40")
    with chdir(place):
        done = invoke(*shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    return place / "cup"


@pytest.fixture
def cup(opened_class, tmp_path, monkeypatch):
    """A copy of the tournament of the guide's class, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(opened_class, tmp_path / "cup")


def table_of(cup, team, name=None):
    original = cup / "teams" / team / f"{team}_original.csv"
    lines = original.read_text().splitlines()
    rows = [f"{line},{number}" for number, line in enumerate(lines[1:])]
    path = cup.parent / (name or f"{team}_anonymized.csv")
    path.write_text("\n".join([f"{lines[0]},original_row", *rows]) + "\n")
    return path


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_the_class_of_the_guide_can_be_played(cup):
    assert invoke("tournament", "submit", cup, "kyoto", table_of(cup, "kyoto")).exit_code == 0
    assert "phase anonymize-again is open" in invoke("tournament", "advance", cup, "--early").output
    assert (cup / "public" / "kyoto_candidate.csv").exists()
    assert invoke("tournament", "submit", cup, "osaka", table_of(cup, "osaka")).exit_code == 0
    assert "phase attack is open" in invoke("tournament", "advance", cup, "--early").output
    # A team without a table of the second round keeps that of the first, and one without any table attacks.
    assert (cup / "public" / "kyoto_anonymized.csv").exists()
    answers = cup.parent / "nara_attack_kyoto.csv"
    answers.write_text("released_row,candidate_row,confidence\n0,1,0.5\n")
    assert invoke("tournament", "submit", cup, "nara", answers).exit_code == 0
    assert "closed" in invoke("tournament", "advance", cup, "--early").output
    assert invoke("tournament", "score", cup, "-j", 1).exit_code == 0
    assert "Standings" in (cup / "host" / "report.html").read_text(encoding="utf-8")
    assert not (cup / "public" / "report.html").exists()


@pytest.mark.thorough
def test_refused_files_are_incidents_until_one_is_accepted(cup):
    path = table_of(cup, "kyoto")
    good = path.read_text()
    path.write_text(good.replace("original_row", "row"))
    assert invoke("tournament", "submit", cup, "kyoto", path).exit_code == 2
    assert invoke("tournament", "submit", cup, "nobody", path).exit_code == 2
    (only,) = tournament_incidents(Tournament(cup))
    assert (only.kind, only.repaired) == (REFUSED, None)
    assert only.began <= only.found
    path.write_text(good)
    submit(Tournament(cup), "osaka", table_of(cup, "osaka"), datetime.now(UTC), measure=False)
    assert tournament_incidents(Tournament(cup))[0].repaired is None
    submit(Tournament(cup), "kyoto", path, datetime.now(UTC), measure=False)
    assert tournament_incidents(Tournament(cup))[0].repaired is not None
    shown = invoke(
        "downtime", "--tournament", cup, "--hourly-cost", 12000, "--db", cup / "none.db", "--format", "csv"
    ).output
    assert f"Failures,Data downtime,1,incident,{REFUSED}" in shown
    assert invoke("tournament", "verify", cup).exit_code == 0
    kept = (cup / "host" / "incidents.jsonl").read_text()
    assert kept.count("\n") == 1
    assert "row" not in kept


ATTACK = "released_row,candidate_row\n0,1\n"


@pytest.fixture
def attacked(tmp_path):
    """A tournament of four teams in its attack phase; tsu has no table."""
    played = opened(tmp_path / "attacked", ("kyoto", "osaka", "nara", "tsu"))
    for team in ("kyoto", "osaka", "nara"):
        played.hand_in(team, played.frame(team))
    played.publish()
    return played


def states(played):
    return [one.repaired is not None for one in tournament_incidents(played.tournament)]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "against", "said"),
    [
        ("answers.csv", None, "which team does it attack"),
        ("nara_attack_nara.csv", None, "cannot attack its own table"),
        ("nara_attack_nobody.csv", None, "there is no team 'nobody'"),
        ("nara_attack_tsu.csv", None, "tsu has submitted no table"),
        ("osaka_attack_kyoto.csv", None, "is named as an attack by 'osaka'"),
        ("nara_attack_osaka.csv", "kyoto", "is named as an attack on 'osaka', not on kyoto"),
        ("nara_anonymized.csv", None, "is named as a table"),
    ],
)
def test_a_refused_attack_on_nobody_is_repaired_by_any_attack_of_the_team(attacked, name, against, said):
    with pytest.raises(ValueError, match=said):
        attacked.hand_in("nara", ATTACK, name=name, against=against, now=START + DAY)
    assert states(attacked) == [False]
    attacked.hand_in("osaka", ATTACK, name="osaka_attack_nara.csv", now=START + DAY + HOUR)
    assert states(attacked) == [False]
    attacked.hand_in("nara", ATTACK, name="nara_attack_osaka.csv", now=START + DAY + HOUR)
    assert states(attacked) == [True]


@pytest.mark.thorough
def test_a_refused_attack_on_a_team_is_repaired_by_one_on_the_same_team(attacked):
    osaka = attacked.file("osaka", "nonsense", "osaka_attack_kyoto.csv")
    with pytest.raises(ValueError, match="osaka_attack_kyoto"):
        submit(attacked.tournament, "osaka", osaka, START + DAY)
    attacked.hand_in("osaka", ATTACK, name="osaka_attack_nara.csv", now=START + DAY + HOUR)
    assert states(attacked) == [False]
    attacked.hand_in("osaka", ATTACK, name="osaka_attack_kyoto.csv", now=START + DAY + 2 * HOUR)
    assert states(attacked) == [True]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("early", [False, True])
def test_a_refusal_that_stays_open_counts_until_the_attack_phase_ends(attacked, early):
    with pytest.raises(ValueError, match="nara_attack_kyoto"):
        attacked.hand_in("nara", "nonsense", name="nara_attack_kyoto.csv", now=START + DAY)
    closed = START + DAY + 2 * HOUR if early else START + 3 * DAY
    advance(attacked.tournament, closed, early=early)
    (only,) = tournament_incidents(attacked.tournament)
    assert only.repaired is None
    assert only.repair(START + 10 * DAY) == (2 if early else 24)


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_a_scoring_that_fails_is_an_incident(cup, monkeypatch):
    assert invoke("tournament", "submit", cup, "kyoto", table_of(cup, "kyoto")).exit_code == 0
    for _ in range(2):
        assert invoke("tournament", "advance", cup, "--early").exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr("scenarios.tournament.host.boards.score_shares", lambda *given: 1 / 0)
        assert invoke("tournament", "score", cup).exit_code != 0
    assert [(one.kind, one.repaired) for one in tournament_incidents(Tournament(cup))] == [(UNSCORED, None)]
    done = invoke("tournament", "score", cup, "-j", 1)
    assert done.exit_code == 0
    assert UNSCORED in done.output
    assert tournament_incidents(Tournament(cup))[0].repaired is not None


def test_damaged_lines_are_left_out(cup):
    (cup / "host" / "incidents.jsonl").write_text('{"kind": "refused submission"\n[]\n{"kind": 1}\n\xff\n')
    assert tournament_incidents(Tournament(cup)) == []


BROKEN = """
from defenses import Identity


class Sometimes(Identity):
    def apply(self, records, rng):
        {body}
"""
SCENARIO = """
[scenario]
name = "sometimes"
dataset = "bank"
game = { use = "CandidateFile", originals = 10, candidates = 20 }
plays = 1

[[defense]]
use = "sometimes_method:Sometimes"

[[attack]]
use = "NearestNeighbour"
"""


@pytest.mark.thorough
def test_failed_trials_of_a_run_are_incidents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sometimes.toml").write_text(SCENARIO)
    module = tmp_path / "sometimes_method.py"
    module.write_text(BROKEN.format(body="raise RuntimeError('no')"))
    assert invoke("run", "sometimes.toml", "--db", "board.db", "-j", 1).exit_code == 3
    with Store("board.db") as store:
        incidents = recorded_incidents(store)
    assert incidents
    assert {one.kind for one in incidents} == {"failed trial (error)"}
    assert all(one.repaired is None for one in incidents)
    shown = invoke("downtime", "--db", "board.db", "--format", "csv")
    assert (shown.exit_code, "failed trial (error)" in shown.output) == (0, True)
