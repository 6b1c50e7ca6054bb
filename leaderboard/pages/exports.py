"""Board and matrix as CSV and JSON; equal results give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard import Exposure, Pair, Row, StatedGuarantee, Success, canonical
from leaderboard.pages.tables import COLUMNS, csv_lines
from leaderboard.results.goals import GOALS

BOARD_COLUMNS = tuple(column.name for column in COLUMNS if column.in_csv)
"""Columns of the board as CSV."""
MATRIX_COLUMNS = (
    *("scenario", "variant", "defense", "parameters", "attack", "attack_parameters"),
    *("reidentification", "reidentification_low", "reidentification_high", "chance"),
    *("membership", "membership_low", "membership_high", "membership_chance"),
    *("advantage", "top3", "precision", "plays", "status", "other_goals"),
)
"""Columns of the matrix as CSV."""
SETTING_COLUMNS = (
    *("scenario", "variant", "defense", "parameters", "guarantee", "utility", "utility_low", "utility_high"),
    *("worst_attack", "worst_parameters", "goal", "advantage", "advantage_upper", "advantage_upper_sure"),
)
"""Columns of settings as CSV."""
_CHANCE = {"reidentification": "chance"}
"""Columns of the chance level that are not named after their goal."""
_SIGNIFICANT = frozenset({"p"})
"""Columns with six significant digits: a p-value may be small, and is never 0."""


def to_csv(rows: Sequence[Row]) -> str:
    """The board as CSV with the columns `BOARD_COLUMNS`; a missing value is an empty field."""
    return csv_text(BOARD_COLUMNS, [{name: getattr(row, name) for name in BOARD_COLUMNS} for row in rows])


def to_json(rows: Sequence[Row], guarantees: Sequence[StatedGuarantee] = ()) -> str:
    """The board as a JSON list of objects: the CSV's columns and further fields.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    guarantees : sequence of StatedGuarantee
        What the defenses guarantee. If there are any, each object has the field ``coverage``: the statement and the
        columns by role, or null.
    """
    records = [{column.name: column.value(row) for column in COLUMNS} for row in rows]
    if guarantees:
        by_setting = {guarantee.setting: guarantee for guarantee in guarantees}
        for row, record in zip(rows, records, strict=True):
            guarantee = by_setting.get((row.scenario, row.defense, canonical(row.parameters)))
            record["coverage"] = guarantee and {"statement": guarantee.statement, **guarantee.roles}
    return json_text(records)


def settings_to_csv(exposures: Sequence[Exposure]) -> str:
    """Each setting with its worst attack over all goals, as CSV with the columns `SETTING_COLUMNS`.

    ``advantage`` is the largest that was measured, which is no unbiased estimate. ``advantage_upper`` bounds the
    advantages of all attacks together with 95 %, if plays vary as they did. ``advantage_upper_sure`` bounds them
    however plays vary, for all settings of a scenario and variant together. Settings whose utility or attacks could not
    be measured are left out.
    """
    rows = [
        (
            *(one.scenario, one.variant, one.defense, one.parameters, one.guarantee),
            *(one.utility.value, one.utility.low, one.utility.high),
            *(one.overall.attack, one.overall.attack_parameters, one.overall.goal),
            *(one.overall.advantage, one.overall.upper, one.overall.sure_upper),
        )
        for one in exposures
        if one.utility is not None and one.overall is not None
    ]
    return csv_text(SETTING_COLUMNS, [dict(zip(SETTING_COLUMNS, row, strict=True)) for row in rows])


def matrix_to_csv(pairs: Sequence[Pair]) -> str:
    """The matrix as CSV with the columns `MATRIX_COLUMNS`, one line per pair."""
    return csv_text(MATRIX_COLUMNS, [_flat(pair) for pair in pairs])


def matrix_to_json(pairs: Sequence[Pair]) -> str:
    """The matrix as a JSON list of objects, one per pair."""
    return json_text(
        [{**_flat(pair), "measures": pair.measures, "reason": pair.reason, "seconds": pair.seconds} for pair in pairs]
    )


def _flat(pair: Pair) -> dict[str, Any]:
    rates: dict[str, Any] = {}
    for goal in GOALS:
        rates |= _rates(goal, pair.success(goal))
    rates["other_goals"] = {
        name: _rounded(value)
        for goal, success in pair.successes.items()
        if goal not in GOALS
        for name, value in _rates(goal, success).items()
    }
    rates |= {name: pair.measures.get(name) for name in ("top3", "precision")}
    return {name: rates[name] if name in rates else getattr(pair, name) for name in MATRIX_COLUMNS}


def _rates(goal: str, success: Success | None) -> dict[str, float | None]:
    """Rate, interval and chance level of a goal by column; None without success."""
    names = (goal, f"{goal}_low", f"{goal}_high", _CHANCE.get(goal, f"{goal}_chance"))
    if success is None:
        return dict.fromkeys(names)
    rate = success.rate
    return dict(zip(names, (rate.value, rate.low, rate.high, success.chance), strict=True))


def csv_text(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV with the given columns; parameters are canonical JSON, other numbers have six decimals.

    P-values have six significant digits instead.
    """
    return csv_lines(columns, ([_cell(name, record[name]) for name in columns] for record in records))


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return canonical(value) if isinstance(value, Mapping) else _field(name, value)


def json_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as a JSON list of objects; numbers have six decimals, those of parameters as many as they need.

    P-values have six significant digits instead.
    """
    # Parameters are given, not measured, and stay exact.
    rounded = [
        {name: value if name.endswith("parameters") else _field(name, value) for name, value in record.items()}
        for record in records
    ]
    return json.dumps(rounded, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _field(name: str, value: Any) -> Any:
    """Value of a column with its number of digits."""
    return float(f"{value:.6g}") if name in _SIGNIFICANT and isinstance(value, float) else _rounded(value)


def _rounded(value: Any) -> Any:
    """Value with floats rounded to six decimals, also within a mapping; minus zero becomes zero."""
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, 6) + 0.0 if isinstance(value, float) else value
