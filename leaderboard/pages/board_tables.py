"""Board and matrix as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from leaderboard.pages.number_text import counted, number, range_text
from leaderboard.pages.report import Section, Table
from leaderboard.pages.tables import Column, cells_of
from leaderboard.results import goal_words, label
from leaderboard.statistics import Pair, Row, by_place, goals, plays_condition

UNITS = "Utility, success, chance, advantage and score: shares of 1"
SMALL = 0.05
"""Chance levels below this are shown with three decimals."""
LARGEST = (
    "max: the largest advantage measured, which is too large on average; "
    "an unbiased estimate takes two or more plays, and every attack measured in all of them"
)
"""What the mark of an advantage means."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyz"


def board_sections(rows: Sequence[Row]) -> list[Section]:
    """The board as sections of a report, one for each scenario and variant; `rows` as returned by `rank`."""
    return [
        Section(
            place_title(*place),
            tables=(Table("", HEADERS, board_cells(own), note=f"{UNITS}\n{board_notes(own)}", sides=ALIGNMENT),),
        )
        for place, own in by_place(rows).items()
    ]


def matrix_sections(pairs: Sequence[Pair]) -> list[Section]:
    """The matrix as sections of a report: success in each goal, or the status of pairs without success."""
    sections = []
    for place, grid in grids(pairs).items():
        attacks = list(dict.fromkeys(attack for line in grid.values() for attack in line))
        columns = goals([pair for line in grid.values() for pair in line.values()])
        cells = [
            [defense, *(_pair_cell(line[attack], columns) if attack in line else "" for attack in attacks)]
            for defense, line in grid.items()
        ]
        sides = ["left", *("right" for _ in attacks)]
        table = Table(f"success in {' / '.join(map(goal_words, columns))}", ("defense", *attacks), cells, sides=sides)
        sections.append(Section(place_title(*place), tables=(table,)))
    return sections


def grids(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], dict[str, dict[str, Pair]]]:
    """Pairs by scenario and variant, then by the defense's label, then by the attack's label."""
    by_variant: dict[tuple[str, str], dict[str, dict[str, Pair]]] = {}
    for pair in pairs:
        grid = by_variant.setdefault((pair.scenario, pair.variant), {})
        defense, attack = label(pair.defense, pair.parameters), label(pair.attack, pair.attack_parameters)
        grid.setdefault(defense, {})[attack] = pair
    return by_variant


def board_cells(rows: Sequence[Row]) -> list[list[str]]:
    """Cells of the rows of a scenario and variant under `HEADERS`, as text."""
    ranks = (("★ " if row.pareto else "") + rank for row, rank in zip(rows, rank_texts(rows), strict=True))
    return [[rank, *cells] for rank, cells in zip(ranks, cells_of(COLUMNS, rows), strict=True)]


COLUMNS: tuple[Column, ...] = (
    Column("scenario"),
    Column("variant"),
    Column("defense", "defense", text=lambda row: label(row.defense, row.parameters) + ("" if row.complete else " !")),
    Column("parameters"),
    Column("guarantee", "guarantee", text=lambda row: row.guarantee or "none"),
    Column("utility", "utility", "right", lambda row: _spread(row.utility, row.utility_low, row.utility_high)),
    Column("utility_low"),
    Column("utility_high"),
    Column(
        "worst_attack",
        "worst attack",
        text=lambda row: attack_text(row) + (f" ({goal_words(row.goal)})" if row.goal else ""),
    ),
    Column("success", "success", "right", lambda row: interval_text(row.success, row.success_low, row.success_high)),
    Column("success_low"),
    Column("success_high"),
    Column(
        "chance",
        "chance",
        "right",
        lambda row: number(row.chance, 2 if (row.chance or 0) >= SMALL else 3),
        style="figure muted",
    ),
    Column("advantage", "advantage", "right", lambda row: advantage_text(row)),
    Column("score", "score", "right", lambda row: number(row.score, 3), style="figure score"),
    Column("pareto", page="front", style="centre"),
    Column("plays", page="plays", style="count muted"),
    Column("advantage_unbiased"),
    *(Column(name, in_csv=False) for name in ("rank", "components", "measured", "worst_parameters", "goal")),
    *(Column(name, in_csv=False) for name in ("attacks", "failures", "reason", "complete", "seconds")),
)
"""Columns of the board: a new one is one line here."""
_SHOWN = [column for column in COLUMNS if column.heading]
ON_PAGE = [column for column in COLUMNS if column.heading or column.page]
"""Columns of the board's page."""
HEADERS = ("#", *(str(column.heading) for column in _SHOWN))
ALIGNMENT = ("right", *(column.align for column in _SHOWN))


def attack_text(row: Row) -> str:
    """The worst attack with its parameters; a dash if none was measured."""
    return "–" if row.worst_attack is None else label(row.worst_attack, row.worst_parameters or {})


def advantage_text(row: Row, digits: int = 2) -> str:
    """Advantage of the worst attack; the largest one that was measured is marked as such."""
    return number(row.advantage, digits) + ("" if row.advantage_unbiased else " max")


def rank_texts(rows: Sequence[Row]) -> list[str]:
    """Rank of each row of a scenario and variant: rows with equal scores share the number and differ in its letter.

    Without a score it is a dash.

    Examples
    --------
    >>> from leaderboard import Row
    >>> common = dict(scenario="bank", variant="", parameters={}, guarantee="", components={}, measured={}, plays=1)
    >>> common |= dict(attacks=1, failures=0, reason="", complete=True, seconds=0.0)
    >>> rank_texts([Row(rank=rank, defense=f"D{rank}", **common) for rank in (1, 2, 2, 4, None)])
    ['1', '2a', '2b', '4', '–']
    """
    total, seen = Counter(row.rank for row in rows), Counter[int]()
    texts = []
    for row in rows:
        if row.rank is None:
            texts.append("–")
        else:
            texts.append(f"{row.rank}{_letters(seen[row.rank]) if total[row.rank] > 1 else ''}")
            seen[row.rank] += 1
    return texts


def _letters(position: int) -> str:
    """a, b, ..., z, aa, ab, ..., without i, l and o, which look like digits or each other."""
    first, last = divmod(position, len(_ALPHABET))
    return (_letters(first - 1) if first else "") + _ALPHABET[last]


def _spread(value: float | None, low: float | None, high: float | None) -> str:
    """A value with the longer side of its interval."""
    if value is None or low is None or high is None:
        return number(value)
    return f"{number(value)} ±{number(max(high - value, value - low))}"


def interval_text(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval: ``.42 [.38, .46]``; a dash if it is missing."""
    return number(value) if value is None else f"{number(value)} [{number(low)}, {number(high)}]"


def _pair_cell(pair: Pair, columns: Sequence[str]) -> str:
    rates = [None if success is None else success.rate.value for success in map(pair.success, columns)]
    return " / ".join(number(rate) for rate in rates) if pair.successes else pair.status


def place_title(scenario: str, variant: str) -> str:
    """Heading of one scenario and variant."""
    return f"{scenario}, {variant}" if variant else scenario


def plays_text(rows: Sequence[Row]) -> str:
    """Number of plays of the rows: ``20``, or ``17 to 20``."""
    return range_text(row.plays for row in rows)


def board_notes(rows: Sequence[Row]) -> str:
    """Lines below a board: its plays, and what its marks mean."""
    notes = [
        f"{counted(plays_text(rows), 'complete play')}; ★: on the Pareto front",
        f"± and [low, high]: 95 % intervals across plays, {plays_condition(min(row.plays for row in rows))}",
    ]
    if len({row.rank for row in rows if row.rank}) < sum(row.rank is not None for row in rows):
        notes.append("a rank with a letter: equal scores")
    if not all(row.advantage_unbiased for row in rows):
        notes.append(LARGEST)
    open_rows = sum(not row.complete for row in rows)
    if open_rows:
        failures = sum(row.failures for row in rows)
        failed = "1 release or trial" if failures == 1 else f"{failures} releases or trials"
        notes.append(f"!: incomplete, {open_rows} of {len(rows)} defenses; {failed} failed")
    return "\n".join(notes)
