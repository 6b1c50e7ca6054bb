"""Tables of a comparison with a baseline: sections of a report, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard import BaselineDifference, Section, label, plays_to_judge
from leaderboard.pages.exports import csv_text, json_text
from leaderboard.pages.number_text import counted, number, range_text
from leaderboard.pages.report import Table, report_to_markdown, report_to_terminal, table_sections
from leaderboard.pages.tables import place_title
from leaderboard.results import goal_words, grouped_by
from leaderboard.statistics.pairs import Pair

# Attacks that were not played because they do not apply, and why: fewer attacks flatter a defense.

TITLE = "Attacks that were not played"
COLUMNS = ("why", "attacks", "on defenses")


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
        tables[scenario] = [Table(TITLE, COLUMNS, listed, note=note)]
    return tables


def skips_to_terminal(pairs: Sequence[Pair], width: int = 120) -> str:
    """Skipped attacks as plain text of at most `width` characters a line; empty if there are none."""
    return report_to_terminal(table_sections(skip_tables(pairs)), width)


def skips_to_markdown(pairs: Sequence[Pair]) -> str:
    """Skipped attacks as Markdown; empty if there are none."""
    return report_to_markdown(table_sections(skip_tables(pairs)))


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
    for place in dict.fromkeys((row.scenario, row.variant) for row in rows):
        own = [row for row in rows if (row.scenario, row.variant) == place]
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


def baseline_to_csv(rows: Sequence[BaselineDifference]) -> str:
    """A comparison with a baseline as CSV with the columns of `baseline_columns`."""
    names = baseline_columns(rows)
    return csv_text(names, [{name: getattr(row, name) for name in names} for row in rows])


def baseline_to_json(rows: Sequence[BaselineDifference]) -> str:
    """A comparison with a baseline as a JSON list of objects with the keys of `baseline_columns`."""
    return json_text([{name: getattr(row, name) for name in baseline_columns(rows)} for row in rows])


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
