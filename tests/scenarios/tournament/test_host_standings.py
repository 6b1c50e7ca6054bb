"""What `score` shows the host before the close: standings that are the host's alone, and nothing of failures."""

from dataclasses import replace

import pytest
from run_tools import invoke

from leaderboard import Section, report_to_terminal
from scenarios.tournament.host.boards import FOR_THE_HOST, standings_table
from scenarios.tournament.rules.standings import AttackOutcome, Standing


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_standings_over_all_rows_are_marked_until_the_close(cup):
    folder = cup.tournament.folder
    rules = (cup.tournament.team_folder("nara") / "RULES.md").read_text()
    assert "Until the close, standings and reports are provisional. They count a secret share" in rules
    cup.hand_in("kyoto", cup.frame("kyoto"))
    bad = cup.file("osaka", cup.frame("osaka").assign(age="old"))
    assert invoke("tournament", "submit", folder, "osaka", bad).exit_code == 2
    cup.publish()
    cup.attack("nara", "kyoto", range(30), range(30))
    shown = invoke("tournament", "score", folder, "-j", 1)
    assert "for the host only: Teams" in shown.stdout
    assert FOR_THE_HOST in shown.stderr
    assert FOR_THE_HOST in (cup.tournament.host / "report.html").read_text()
    assert "downtime" not in shown.stdout
    assert "failures so far: 1 x refused submission; `tokumei downtime --tournament" in shown.stderr
    report = (cup.tournament.team_folder("kyoto") / "report.md").read_text()
    assert "A drop of 0 or less says that it leaks nothing" in report
    assert FOR_THE_HOST in invoke("tournament", "score", folder, "-j", 1, "--format", "csv").stderr
    everything = invoke("tournament", "score", folder, "-j", 1, "--public-share", 1)
    assert "for the host only" not in everything.output
    cup.close()
    final = invoke("tournament", "score", folder, "-j", 1)
    assert "for the host only" not in final.output
    assert FOR_THE_HOST not in (cup.tournament.host / "report.html").read_text()
    assert "Data downtime" in (cup.tournament.host / "report.html").read_text()


def test_names_are_broken_between_their_words_in_the_terminal():
    worst = AttackOutcome("baseline:ExpectationMaximizationLinkage", "membership", 0.7, 0.5, 0.4)
    standing = Standing(
        team="kyoto", utility=0.5, utility_table=0.5, utility_record=0.6, defense=0.3, worst=worst, attack=0.2, rank=1
    )
    tied = replace(standing, team="osaka", tie="tied with kyoto; decided by defense")
    table = standings_table([standing, tied], {}, "All rows count.")
    for width, parts in (
        (120, "baseline:Expectation MaximizationLinkage"),
        (100, "baseline: Expectation Maximization"),
    ):
        shown = report_to_terminal([Section("Cup", tables=(table,))], width=width)
        assert set(parts.split()) <= set(shown.split())
        assert max(map(len, shown.splitlines())) <= 120
