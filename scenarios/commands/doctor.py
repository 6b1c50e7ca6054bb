"""``tokumei doctor``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from scenarios.commands.common import GATE_FAILED, db_option, echo

MARKS = {"ok": "✓", "note": "–", "failed": "✗"}


@click.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="Write the findings as JSON, for a report of an error.")
@click.option("--quick", is_flag=True, help="Leave out the self-test, which takes some ten seconds.")
def doctor(db: str, *, as_json: bool, quick: bool) -> None:
    """Check the installation: packages, worker processes, the database, and a self-test.

    The self-test plays a tiny board in a worker process. An attack must succeed on the original table. A gate must
    refuse that table and let a table of constants pass. An audit must refute a mechanism that claims half of its
    epsilon.

    The exit code is 1 if a check fails. What an extra lacks is a note: pip can install it where it is needed.
    """
    from scenarios.checks.doctor.self_test import check_database, check_packages, check_python, check_space

    findings = [check_python(), *check_packages(), check_space(), check_database(db)]
    if not quick and all(finding.status != "failed" for finding in findings[:2]):
        from scenarios.checks.doctor.self_test import check_audit, check_play

        findings += [*check_play(), check_audit()]
    if as_json:
        echo(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            echo(f"{MARKS[finding.status]} {finding.check}: {finding.text}")
            if finding.advice:
                echo(f"    {finding.advice}")
    failed = [finding.check for finding in findings if finding.status == "failed"]
    if failed:
        echo(f"failed: {', '.join(failed)}", err=True)
        sys.exit(GATE_FAILED)
