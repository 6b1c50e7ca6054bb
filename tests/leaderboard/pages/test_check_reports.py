"""Reports of checks: JUnit XML that a parser reads back, and annotations that cannot be broken by a message."""

from xml.etree import ElementTree

import pytest
from comparison_tools import played

from leaderboard import ReportedCheck, Result, github_annotations, junit_xml, trial_checks

CHECKS = [
    ReportedCheck("bank, decoys=hard", "Mondrian k=5: utility", seconds=1.5),
    ReportedCheck("bank, decoys=hard", 'Noise <"&\x00\x1b\ufffe>: utility', failure="utility .312 is below .400 \x07"),
    ReportedCheck("bank", "Slow: plays", error="1 of 20 releases and trials failed"),
    ReportedCheck("bank", "Rare: members", skipped="too few plays"),
]


def test_a_parser_reads_every_check_back():
    root = ElementTree.fromstring(junit_xml(CHECKS))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [suite.get("name") for suite in root] == ["bank, decoys=hard", "bank"]
    cases = root.findall("./testsuite/testcase")
    assert cases[0].get("time") == "1.500"
    assert [[part.tag for part in case] for case in cases] == [[], ["failure"], ["error"], ["skipped"]]
    assert cases[1].get("name") == 'Noise <"&\\x00\\x1b\ufffd>: utility'
    assert cases[1][0].get("message") == "utility .312 is below .400 \\x07"


def test_only_what_failed_is_annotated_in_one_line_each():
    lines = github_annotations([*CHECKS, ReportedCheck("a,b:c", "d", failure="50 %\n::error::injected")]).split("\n")
    assert lines == [
        '::error title=bank%2C decoys=hard%3A Noise <"&\\x00\\x1b\ufffe>%3A utility::utility .312 is below .400 \\x07',
        "::error title=bank%3A Slow%3A plays::1 of 20 releases and trials failed",
        "::error title=a%2Cb%3Ac%3A d::50 %25%0A::error::injected",
    ]


def test_failed_trials_are_errors_of_their_defense():
    results = played(0, plays=2)
    lost = Result(key="x", scenario="bank", defense="Alpha", attack="Greedy", play=2, status="timeout", reason="60 s")
    checks = {check.name: check for check in trial_checks([*results, lost])}
    assert [name for name, check in checks.items() if check.error] == ["Alpha: plays"]
    assert checks["Alpha: plays"].error == (
        "1 of 7 releases and trials failed; the first: timeout against Greedy, play 2: 60 s"
    )
    assert checks["Beta: plays"].seconds == pytest.approx(sum(r.seconds for r in results if r.defense == "Beta"))
