"""How a check is shown to a team."""

from __future__ import annotations

import json

from scenarios.tournament.checking import Outlook
from scenarios.tournament.standings import GOAL_WORDS


def outlook_to_terminal(outlook: Outlook) -> str:
    """A check in lines and a table."""
    from tabulate import tabulate

    merit = outlook.merit
    parts = ", ".join(f"{name} {value:.3f}" for name, value in merit.components.items())
    lines = [
        f"valid: {len(outlook.sheet.frame)} rows",
        f"utility {merit.counted:.3f}, the smaller of both: of the table {merit.table:.3f} ({parts}), "
        f"of the records {merit.record:.3f}",
    ]
    if not outlook.blows:
        lines.append("no attack was played: there is no others.csv beside the originals (--others names another file)")
        return "\n".join(lines)
    rows = [
        [one.attacker, GOAL_WORDS[one.goal], f"{one.success:.3f}", f"{one.chance:.3f}", f"{one.advantage:.3f}"]
        for one in outlook.blows
    ]
    lines += [
        "",
        tabulate(rows, ("attack", "best at", "success", "chance", "advantage"), disable_numparse=True),
        "",
        f"defense {outlook.defense:.3f} against these, with {outlook.decoys} decoys from others.csv; the tournament's "
        "decoys are other people, and teams may attack better",
    ]
    return "\n".join(lines)


def outlook_to_json(outlook: Outlook) -> str:
    """A check as JSON."""
    merit = outlook.merit
    content = {
        "rows": len(outlook.sheet.frame),
        "utility": merit.counted,
        "utility_table": merit.table,
        "utility_record": merit.record,
        "components": merit.components,
        "decoys": outlook.decoys,
        "defense": outlook.defense,
        "attacks": [
            {
                "attack": one.attacker,
                "goal": one.goal,
                "success": one.success,
                "chance": one.chance,
                "advantage": one.advantage,
            }
            for one in outlook.blows
        ],
    }
    return json.dumps(content, indent=2)
