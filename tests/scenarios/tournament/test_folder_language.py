"""The rules and reports of a folder in the language that the host asks for."""

import re

import pytest
from tournament_tools import opened

from scenarios.tournament.host.boards import update_boards
from scenarios.tournament.rules.scoring import score_shares

ENGLISH = re.compile(r"[A-Za-z]+ [A-Za-z]+ [A-Za-z]+")
QUESTIONS = 'question = [{ use = "RowQuestion" }, { use = "AttributeQuestion" }, { use = "LinkQuestion" }]\n'
MEASURES = 'measure = [{ use = "Tails" }, { use = "WorstTwoWay" }]\n'


def english(text):
    """Lines that say something in English, without the host's own words: titles and names of columns and methods."""
    return [line for line in text.splitlines() if ENGLISH.search(re.sub(r"`[^`]*`|Bank Marketing: .*", "", line))]


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
@pytest.mark.parametrize("contest", ["", QUESTIONS + MEASURES])
def test_rules_and_reports_are_japanese(tmp_path, contest):
    (tmp_path / "rules.toml").write_text(contest)
    cup = opened(tmp_path / "cup", language="ja", **({"contest": tmp_path / "rules.toml"} if contest else {}))
    place = cup.tournament.team_folder("kyoto")
    assert not english((place / "RULES.md").read_text())
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    cup.attack("osaka", "kyoto", range(30), range(30))
    score_shares(cup.tournament, (0.5, 1.0), 1)
    update_boards(cup.tournament, 0.5)
    report = (place / "report.md").read_text()
    assert "最も強い攻撃" in report
    assert not english(report)
    assert not english((cup.tournament.team_folder("nara") / "report.md").read_text())


def test_a_folder_is_in_english_unless_asked(tmp_path):
    cup = opened(tmp_path / "cup")
    assert "You hold the original records" in (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
    assert cup.tournament.settings.language == "en"
