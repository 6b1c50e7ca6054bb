"""Explanations of planned plays as tables, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from itertools import groupby

from leaderboard.results.result import canonical, label
from scenarios.running.explanation import Explanation

COLUMNS = ("scenario", "game", "defense", "parameters", "attack", "attack_parameters", "plays", "reason")
_HEADERS = ("scenario", "game", "defense", "attack", "plays", "why")


def written_explanations(explanations: Sequence[Explanation], form: str) -> str:
    """Format explanations as ``table``, ``markdown``, ``csv`` or ``json``."""
    if form == "json":
        records = [{name: getattr(one, name) for name in COLUMNS} for one in explanations]
        return json.dumps(records, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in explanations:
            game, parameters, others = canonical(one.game), canonical(one.parameters), canonical(one.attack_parameters)
            attack = one.attack or ""
            writer.writerow(
                [one.scenario, game, one.defense, parameters, attack, others, _ranges(one.plays), one.reason]
            )
        return text.getvalue()
    if not explanations:
        return "nothing is to be played\n"
    from tabulate import tabulate

    lines = [
        (
            one.scenario,
            " ".join(str(value) for value in one.game.values()),
            label(one.defense, one.parameters),
            label(one.attack, one.attack_parameters) if one.attack else "(release)",
            _ranges(one.plays),
            one.reason,
        )
        for one in explanations
    ]
    style = "pipe" if form == "markdown" else "simple"
    if form == "markdown":
        lines = [tuple(cell.replace("|", r"\|") for cell in line) for line in lines]  # type: ignore[misc]
    return tabulate(lines, _HEADERS, tablefmt=style, disable_numparse=True) + "\n"


def _ranges(plays: Sequence[int]) -> str:
    """Format integers as ranges, such as ``0-3, 7``."""
    runs = [[play for _, play in run] for _, run in groupby(enumerate(sorted(plays)), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
