"""Check report of a table as text and JSON."""

from __future__ import annotations

from leaderboard.pages.number_text import counted
from leaderboard.pages.tables import text_table
from leaderboard.results.goals import goal_words
from scenarios.tables.toml.json_text import json_text
from scenarios.tournament.rules.checking import CheckReport


def check_report_to_terminal(report: CheckReport) -> str:
    """Check report as plain text."""
    utility = report.utility
    parts = ", ".join(f"{name} {value:.3f}" for name, value in utility.components.items())
    rows = [
        [one.attacker, goal_words(one.goal), *(f"{value:.3f}" for value in (one.success, one.chance, one.advantage))]
        for one in report.outcomes
    ]
    lines = [
        f"valid: {counted(len(report.sheet.frame), 'row')}",
        f"utility {utility.counted:.3f}, the smaller one of two: of the table {utility.table:.3f} ({parts}), "
        f"of the records {utility.record:.3f}",
        *filter(None, (report.note, report.costs.words() if report.costs else "", report.fit.words())),
    ]
    if rows:
        table = text_table(("attack", "best at", "success", "chance", "advantage"), rows)
        end = f"defense {report.defense:.3f} against these attacks, with {report.decoys} decoys from others.csv; the "
        lines += ["", table, "", f"{end}tournament uses other decoys, and teams may attack better"]
    else:
        lines.append(
            "no attack was played and no classifier tested: there is no others.csv in the folder of the originals "
            "(--others names another file)"
        )
    return "\n".join(lines)


def check_report_to_json(report: CheckReport) -> str:
    """Check report as JSON."""
    utility = report.utility
    content = {
        "rows": len(report.sheet.frame),
        "utility": utility.counted,
        "utility_table": utility.table,
        "utility_record": utility.record,
        "components": utility.components,
        "record_costs": report.costs and {**report.costs.columns, "originals without a row": report.costs.left_out},
        "dearest": report.costs.words() if report.costs else "",
        "warning": report.fit.words(),
        "note": report.note,
        "decoys": report.decoys,
        "defense": report.defense,
        "attacks": [
            {
                "attack": one.attacker,
                "goal": one.goal,
                "success": one.success,
                "chance": one.chance,
                "advantage": one.advantage,
            }
            for one in report.outcomes
        ],
    }
    return json_text(content)
