"""Tables of comparisons: attacks with a baseline, and two sets of results."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard import BaselineDifference, Change, ReportedCheck, Section, label, plays_to_judge
from leaderboard.pages.board_tables import place_title
from leaderboard.pages.exports import Records
from leaderboard.pages.number_text import counted, number, range_text
from leaderboard.pages.report import Table
from leaderboard.pages.tables import Column
from leaderboard.results import goal_words, grouped_by
from leaderboard.statistics import COUNTED, Pair

# Attacks that were not played because they do not apply, and why: fewer attacks flatter a defense.

NOT_PLAYED = "Attacks that were not played"
_NOT_PLAYED_COLUMNS = ("why", "attacks", "on defenses")


def skip_tables(pairs: Sequence[Pair]) -> dict[str, list[Table]]:
    """Tables of the attacks that were skipped, by scenario; none for a scenario in which every attack was played.

    Parameters
    ----------
    pairs : sequence of Pair
        The matrix.

    Returns
    -------
    dict of str to list of Table
        One table for each scenario, with a row for each reason and set of attacks.

    Examples
    --------
    >>> from leaderboard import Result, matrix
    >>> common = {"key": "1" * 64, "scenario": "mine", "defense": "Shuffle", "play": 0}
    >>> skipped = Result(attack="Bayes", status="skipped", reason="the release discloses no channel", **common)
    >>> [table] = skip_tables(matrix([skipped]))["mine"]
    >>> table.rows
    [('the release discloses no channel', 'Bayes', 'Shuffle')]
    """
    tables = {}
    all_skipped = (pair for pair in pairs if pair.status == "skipped")
    for scenario, skipped in grouped_by(all_skipped, lambda pair: pair.scenario).items():
        by_defense = grouped_by(skipped, lambda pair: (pair.reason, pair.defense))
        attacks = {key: ", ".join(sorted({pair.attack for pair in own})) for key, own in by_defense.items()}
        # Defenses on which the same attacks were skipped share a row.
        rows = grouped_by(sorted(attacks.items()), lambda skips: (skips[0][0], skips[1]))
        listed = [
            (why, names, ", ".join(defense for (_, defense), _ in of)) for (why, names), of in sorted(rows.items())
        ]
        note = "A defense on which fewer attacks were played looks safer than it is."
        tables[scenario] = [Table(NOT_PLAYED, _NOT_PLAYED_COLUMNS, listed, note=note)]
    return tables


BASELINE_COLUMNS = (
    *("scenario", "variant", "attack", "attack_parameters", "baseline", "baseline_parameters", "goal"),
    *("success", "baseline_success", "difference", "low", "high", "p"),
    *("defenses", "plays", "trials", "judged", "significant"),
)
"""Columns of a comparison with a baseline as CSV, and keys of its JSON."""
DEFENSE_COLUMNS = ("defense", "parameters")
"""Further columns of a comparison on each defense alone."""
SMALLEST_SHOWN = 0.001
"""Tables say of smaller p-values that they are smaller."""
_COLUMNS = ("attack", "goal", "success", "baseline", "difference", "95 % interval", "p", "significant")


def baseline_sections(rows: Sequence[BaselineDifference]) -> list[Section]:
    """Sections of a report: a table for each scenario and variant.

    Parameters
    ----------
    rows : sequence of BaselineDifference
        Rows as returned by `compare_with_baseline`.
    """
    needed = plays_to_judge(rows)
    sections = []
    for place, own in grouped_by(rows, lambda row: (row.scenario, row.variant)).items():
        note = (
            f"Success minus the baseline's, paired by trial; Student's t-test across "
            f"{range_text(row.plays for row in own)} plays. "
            f"Significant: at 5 % after Holm's correction for {counted(len(rows), 'test')}."
        )
        if any(not row.judged for row in own):
            note += f" Too few: {needed} plays would do."
        note += _floor_note(own)
        against = label(own[0].baseline, own[0].baseline_parameters)
        last, where = ("defense", ", on each defense") if own[0].defense else ("defenses", "")
        columns = (*_COLUMNS, last, "plays")
        table = Table(f"success compared with {against}{where}", columns, list(map(_cells, own)), 3, note)
        sections.append(Section(place_title(*place), tables=(table,)))
    return sections


def baseline_records(rows: Sequence[BaselineDifference]) -> Records:
    """A comparison with a baseline for programs, with the columns of `baseline_columns`."""
    return Records.of(rows, baseline_columns(rows))


def baseline_columns(rows: Sequence[BaselineDifference]) -> tuple[str, ...]:
    """`BASELINE_COLUMNS`, and `DEFENSE_COLUMNS` if the attacks were compared on each defense alone."""
    return (*BASELINE_COLUMNS, *DEFENSE_COLUMNS) if any(row.defense for row in rows) else BASELINE_COLUMNS


def _floor_note(rows: Sequence[BaselineDifference]) -> str:
    """The smallest p for each number of plays with a row whose p is that; empty without such a row."""
    floors = {row.plays: row.smallest_p for row in rows if row.p <= row.smallest_p}
    said = [
        f"{_p_text(floor)} is the smallest p that {plays} plays can give" for plays, floor in sorted(floors.items())
    ]
    return f" {'; '.join(said)} (2/4ⁿ for n plays)." if said else ""


def _p_text(p: float) -> str:
    """A p-value with three decimals, or with two digits if it is smaller."""
    return f"{p:.1e}" if p < SMALLEST_SHOWN else number(p, 3)


def _cells(row: BaselineDifference) -> tuple[str | float | int, ...]:
    return (
        label(row.attack, row.attack_parameters),
        goal_words(row.goal),
        row.success,
        row.baseline_success,
        row.difference,
        f"[{number(row.low, 3)}, {number(row.high, 3)}]",
        "< .001" if row.p < SMALLEST_SHOWN else number(row.p, 3),
        ("yes" if row.significant else "no") if row.judged else "too few",
        label(row.defense, row.parameters) if row.defense else row.defenses,
        row.plays,
    )


_CHANGE_COLUMNS = (
    Column("verdict", "verdict", text=lambda change: _verdict(change), in_csv=False),
    Column("scenario", "scenario", text=lambda change: place_title(change.scenario, change.variant)),
    Column("variant"),
    Column("defense", "defense", text=lambda change: _defenses(change)),
    Column("parameters"),
    Column(
        "attack",
        "attack",
        text=lambda change: "–" if change.attack is None else label(change.attack, change.attack_parameters),
    ),
    Column("attack_parameters"),
    Column("measure", "measure", text=lambda change: goal_words(change.measure)),
    Column("base", "base", "right", lambda change: _ends(change)[0]),
    Column("head", "head", "right", lambda change: _ends(change)[1]),
    Column("change", "change", "right", lambda change: _ends(change)[2]),
    Column("interval", "interval", "right", lambda change: _ends(change)[3], in_csv=False),
    *map(Column, ("low", "high", "p")),
    Column("plays", "plays", "right"),
    *map(Column, ("judged", "worse", "significant", "alarm", "base_defense", "base_parameters")),
)
CHANGE_COLUMNS = tuple(column.name for column in _CHANGE_COLUMNS if column.in_csv)
"""Columns of a comparison as CSV, and keys of its JSON."""


def change_table(changes: Sequence[Change], title: str = "") -> Table:
    """Changes as a table, of which each significant one has a verdict."""
    return Table.of(title, _CHANGE_COLUMNS, changes)


def change_records(changes: Sequence[Change]) -> Records:
    """Changes for programs, with the columns `CHANGE_COLUMNS`."""
    return Records.of(changes, CHANGE_COLUMNS)


def change_sections(changes: Sequence[Change], summary: str) -> list[Section]:
    """Sections of a page: the significant changes, and every measure that was compared.

    Parameters
    ----------
    changes : sequence of Change
        Changes as returned by `compare`.
    summary : str
        Lines above the tables.
    """
    significant = [change for change in changes if change.significant]
    tables = [
        change_table(listed, counted(len(listed), what))
        for what, listed in (("significant change", significant), ("measure", changes))
    ]
    return [
        Section("What changed", tuple(summary.splitlines()), tuple(tables[:1] if significant else ())),
        Section("Every measure that was compared", (), (tables[1],)),
    ]


def change_checks(changes: Sequence[Change]) -> list[ReportedCheck]:
    """Changes as checks of a report: an alarm is a failure, a measure with too few plays is skipped."""
    checks = []
    for change in changes:
        attack = "" if change.attack is None else f" against {label(change.attack, change.attack_parameters)}"
        base, head, moved, interval = _ends(change)
        name = f"{_defenses(change)}{attack}: {goal_words(change.measure)}"
        failure = f"{base} became {head} ({moved}{f', {interval}' if interval else ''})" if change.alarm else ""
        skipped = "" if change.alarm or change.judged else "too few plays"
        checks.append(
            ReportedCheck(place_title(change.scenario, change.variant), name, failure=failure, skipped=skipped)
        )
    return checks


def _verdict(change: Change) -> str:
    return ("✗ worse" if change.worse else "✓ better") if change.significant else ""


def _defenses(change: Change) -> str:
    """The defense, or that of the base and that of the head if they are two."""
    sides = (label(change.base_defense, change.base_parameters), label(change.defense, change.parameters))
    return " → ".join(dict.fromkeys(sides))


def _ends(change: Change) -> tuple[str, str, str, str]:
    """Base, head, change and interval as text, in the units of the measure."""
    if change.measure in COUNTED:
        return f"{change.base:g}", f"{change.head:g}", f"{change.change:+g}", ""
    if change.measure == "time":
        moved, low, high = (f"{100 * value:+.0f} %" for value in (change.change, change.low, change.high))
        return _seconds(change.base), _seconds(change.head), moved, f"[{low}, {high}]"
    moved = f"{'+' if change.change > 0 else ''}{number(change.change, 3)}"
    return number(change.base, 3), number(change.head, 3), moved, f"[{number(change.low, 3)}, {number(change.high, 3)}]"


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
