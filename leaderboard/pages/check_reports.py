"""Reports of checks for continuous integration: JUnit XML, and annotations in the form of GitHub Actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from leaderboard.results.result import FAILURES, Result, grouped_by, label
from metrics.columns.printable import printable


@dataclass(frozen=True)
class ReportedCheck:
    """One check of a report.

    Parameters
    ----------
    suite, name : str
        Group of checks, and the name of this one in it.
    failure : str
        Why it failed, in one line; empty if it passed.
    error : str
        Why it could not be made, in one line; empty if it was made.
    skipped : str
        Why it was left out, in one line; empty otherwise.
    seconds : float
        Time that it took, in seconds.
    note : str
        What a passed check does not show, in one line; empty if there is nothing to say.
    """

    suite: str
    name: str
    failure: str = ""
    error: str = ""
    skipped: str = ""
    seconds: float = 0.0
    note: str = ""


def trial_checks(results: Sequence[Result]) -> list[ReportedCheck]:
    """A check for each defense: an error if any of its releases or trials failed, and their total time."""
    groups = grouped_by(results, lambda result: (result.scenario, label(result.defense, result.parameters)))
    checks = []
    for (scenario, defense), group in groups.items():
        failed = [result for result in group if result.status in FAILURES]
        error = ""
        if failed:
            against = f" against {failed[0].attack}" if failed[0].attack else ""
            first = f"{failed[0].status}{against}, play {failed[0].play}: {failed[0].reason}"
            error = f"{len(failed)} of {len(group)} releases and trials failed; the first: {first}"
        checks.append(ReportedCheck(scenario, f"{defense}: plays", error=error, seconds=sum(r.seconds for r in group)))
    return checks


def junit_xml(checks: Sequence[ReportedCheck]) -> str:
    """JUnit XML of checks, one suite for each group, as servers of continuous integration read it.

    Examples
    --------
    >>> check = ReportedCheck("bank", "Mondrian k=5: utility at least .4", failure="utility .312 is below .400")
    >>> print(junit_xml([check]))
    <?xml version="1.0" encoding="utf-8"?>
    <testsuites name="tokumei" tests="1" failures="1" errors="0" skipped="0" time="0.000">
      <testsuite name="bank" tests="1" failures="1" errors="0" skipped="0" time="0.000">
        <testcase classname="bank" name="Mondrian k=5: utility at least .4" time="0.000">
          <failure message="utility .312 is below .400" />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    root = ElementTree.Element("testsuites", {"name": "tokumei", **_totals(checks)})
    for name, group in grouped_by(checks, lambda check: check.suite).items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": _clean(name), **_totals(group)})
        for check in group:
            case = {"classname": _clean(name), "name": _clean(check.name), "time": f"{check.seconds:.3f}"}
            element = ElementTree.SubElement(suite, "testcase", case)
            for kind in ("failure", "error", "skipped"):
                if getattr(check, kind):
                    ElementTree.SubElement(element, kind, {"message": _clean(getattr(check, kind))})
            if check.note:
                ElementTree.SubElement(element, "system-out").text = _clean(check.note)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def github_annotations(checks: Sequence[ReportedCheck]) -> str:
    """Failed checks as workflow commands of GitHub Actions, which show them beside a pull request; one line each.

    Examples
    --------
    >>> github_annotations([ReportedCheck("bank", "Mondrian: utility", failure="utility .312 is below 40 %")])
    '::error title=bank%3A Mondrian%3A utility::utility .312 is below 40 %25'
    """
    failed = [check for check in checks if check.failure or check.error]
    titles = [_data(f"{check.suite}: {check.name}").replace(":", "%3A").replace(",", "%2C") for check in failed]
    return "\n".join(
        f"::error title={title}::{_data(check.failure or check.error)}"
        for title, check in zip(titles, failed, strict=True)
    )


def _totals(checks: Sequence[ReportedCheck]) -> dict[str, str]:
    return {
        "tests": str(len(checks)),
        "failures": str(sum(bool(check.failure) for check in checks)),
        "errors": str(sum(bool(check.error) for check in checks)),
        "skipped": str(sum(bool(check.skipped) for check in checks)),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }


def _clean(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return printable(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def _data(text: str) -> str:
    """Message of a workflow command; GitHub documents these escapes."""
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
