"""A valid correspondence table says how many rows it answers, and warns where all answers are one person."""

import pandas as pd
import pytest
from run_tools import invoke
from tournament_tools import DAY, HOUR, START

from scenarios.tournament.rules.sheets import read_answers
from scenarios.tournament.rules.submitting import accepted_outcome

SAME = "warning: every answer names candidate_row 5, which is right for one row at most"


@pytest.fixture
def attacked(cup):
    cup.hand_in("kyoto", cup.frame("kyoto"))
    cup.publish()
    return cup


def answers(rows, candidates):
    return pd.DataFrame({"released_row": rows, "candidate_row": candidates})


def test_a_receipt_counts_the_answered_rows(attacked):
    name, now = "nara_attack_kyoto.csv", START + DAY + HOUR
    part = attacked.hand_in("nara", answers(range(10), range(10)), name=name, now=now)
    assert part.notes == ("10 of 30 rows answered",)
    assert accepted_outcome(name, part)["message"] == "accepted, 10 of 30 rows answered"
    assert attacked.hand_in("nara", answers([0], [5]), name=name, now=now).notes == ("1 of 30 rows answered",)
    same = attacked.hand_in("nara", answers(range(30), [5] * 30), name=name, now=now)
    assert same.notes == ("30 of 30 rows answered", SAME)


@pytest.mark.thorough
def test_the_check_counts_them_before(attacked):
    public = attacked.tournament.public
    files = ("--released", public / "kyoto_anonymized.csv", "--candidates", public / "kyoto_candidate.csv")
    path = attacked.file("nara", answers(range(4), [5] * 4), "nara_attack_kyoto.csv")
    shown = invoke("tournament", "check", path, *files)
    assert (shown.exit_code, shown.stdout.splitlines()) == (0, ["valid", "4 of 30 rows answered", SAME])
    assert '"4 of 30 rows answered"' in invoke("tournament", "check", path, *files, "--format", "json").stdout
    wrong = attacked.file("nara", answers([30], [60]), "wrong.csv")
    refused = invoke("tournament", "check", wrong, *files)
    assert (refused.exit_code, "'60' is no row number from 0 to 59" in refused.stderr) == (2, True)


def test_without_confidence_all_answers_are_equally_certain_as_the_rules_say(attacked):
    plain = answers([0, 1], [3, 4])
    tables = (plain, plain.assign(confidence=1.0))
    first, second = (read_answers("a.csv", table.to_csv(index=False).encode(), 30, 60) for table in tables)
    assert first.score.tolist() == second.score.tolist()
    rules = (attacked.tournament.team_folder("nara") / "RULES.md").read_text()
    assert "Without the column `confidence`, all answers are equally" in rules


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("options", [[], ["--released", "a.csv"], ["--original", "a.csv", "--candidates", "b.csv"]])
def test_the_check_says_which_files_it_needs(attacked, options):
    done = invoke("tournament", "check", "a.csv", *options)
    assert done.exit_code == 2
    assert "name --original for a table, or --released and --candidates for an attack" in done.stderr
