"""What boards, the matrix and settings hold for programs: records as CSV and JSON; equal results give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard import Exposure, Pair, Row, StatedGuarantee, Success, canonical
from leaderboard.pages.board_tables import COLUMNS
from leaderboard.pages.tables import csv_lines
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
_SIGNIFICANT = frozenset({"p", "base", "head"})
"""Columns with six significant digits: p-values and times may be small, and are never 0."""


@dataclass(frozen=True)
class Records:
    """What programs read: one record a line of CSV, or an object of JSON.

    Numbers have six decimals, p-values and the two sides of a comparison six significant digits instead. Parameters are
    exact.

    - columns: Columns of CSV.
    - rows: Fields by name; JSON has them all.
    """

    columns: Sequence[str]
    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, things: Iterable[Any], columns: Sequence[str], further: Sequence[str] = ()) -> Records:
        """Fields of things: `columns`, and in JSON `further` ones."""
        return cls(columns, [{name: getattr(one, name) for name in (*columns, *further)} for one in things])

    def csv(self) -> str:
        """The records as CSV; a missing value is an empty field, and a mapping canonical JSON."""
        return csv_lines(self.columns, ([_cell(name, row[name]) for name in self.columns] for row in self.rows))

    def json(self) -> str:
        """The records as a JSON list of objects."""
        # Parameters are given, not measured, and stay exact.
        rounded = [
            {name: value if name.endswith("parameters") else _field(name, value) for name, value in row.items()}
            for row in self.rows
        ]
        return json.dumps(rounded, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def board_records(rows: Sequence[Row], guarantees: Sequence[StatedGuarantee] = ()) -> Records:
    """The board for programs: the columns `BOARD_COLUMNS`, in JSON further fields.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    guarantees : sequence of StatedGuarantee
        What the defenses guarantee. If there are any, each object of JSON has the field ``coverage``: the statement
        and the columns by role, or null.
    """
    records = Records.of(rows, BOARD_COLUMNS, [column.name for column in COLUMNS if not column.in_csv])
    if not guarantees:
        return records
    by_setting = {guarantee.setting: guarantee for guarantee in guarantees}
    own = (by_setting.get((row.scenario, row.defense, canonical(row.parameters))) for row in rows)
    coverage = (one and {"statement": one.statement, **one.roles} for one in own)
    return Records(
        BOARD_COLUMNS, [{**row, "coverage": covers} for row, covers in zip(records.rows, coverage, strict=True)]
    )


def setting_records(exposures: Sequence[Exposure]) -> Records:
    """Each setting with its worst attack over all goals, with the columns `SETTING_COLUMNS`.

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
    return Records(SETTING_COLUMNS, [dict(zip(SETTING_COLUMNS, row, strict=True)) for row in rows])


def matrix_records(pairs: Sequence[Pair]) -> Records:
    """The matrix for programs, one record a pair: the columns `MATRIX_COLUMNS`, in JSON further fields."""
    records = [
        {**_flat(pair), "measures": pair.measures, "reason": pair.reason, "seconds": pair.seconds} for pair in pairs
    ]
    return Records(MATRIX_COLUMNS, records)


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


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return canonical(value) if isinstance(value, Mapping) else _field(name, value)


def _field(name: str, value: Any) -> Any:
    """Value of a column with its number of digits."""
    return float(f"{value:.6g}") if name in _SIGNIFICANT and isinstance(value, float) else _rounded(value)


def _rounded(value: Any) -> Any:
    """Value with floats rounded to six decimals, also within a mapping; minus zero becomes zero."""
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, 6) + 0.0 if isinstance(value, float) else value
