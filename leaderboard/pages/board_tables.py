"""Board and matrix as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from leaderboard.pages.number_text import counted, number, range_text
from leaderboard.pages.report import Section, Table
from leaderboard.pages.tables import Column, cells_of
from leaderboard.results import goal_words, label
from leaderboard.statistics import Pair, Row, by_place, goals, plays_condition
from metrics.score import advantage

Grid = Mapping[str, Mapping[str, Pair]]
"""Pairs by the defense's label, then by the attack's label."""
SUCCESS = "Success: the share of cases in which the attack is right, such as .25 for 25 of 100"
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
    """The matrix as sections of a report, one for each scenario and variant."""
    return [
        Section(place_title(*place), tables=(matrix_table(grid, goals_of(grid)),))
        for place, grid in grids(pairs).items()
    ]


def matrix_table(grid: Grid, columns: Sequence[str], *, intervals: bool = False) -> Table:
    """Success of attacks on defenses in some goals, or the status of pairs without success.

    Attacks are rows if they are more than the defenses. The most dangerous attack of each defense is bold.
    """
    attacks = list(dict.fromkeys(attack for line in grid.values() for attack in line))
    heads = ["defense", *attacks]
    lines = [
        [defense, *(_pair_cell(line[attack], columns, intervals) if attack in line else "" for attack in attacks)]
        for defense, line in grid.items()
    ]
    worst = [most_dangerous(line, columns) for line in grid.values()]
    bold = {(row, at) for row, names in enumerate(worst) for at, attack in enumerate(attacks, 1) if attack in names}
    if len(attacks) > len(lines):
        heads = ["attack", *grid]
        lines = [list(texts) for texts in zip(attacks, *(line[1:] for line in lines), strict=True)]
        bold = {(column - 1, row + 1) for row, column in bold}
    words = " / ".join(map(goal_words, columns))
    plays = min((pair.plays for line in grid.values() for pair in line.values() if pair.plays), default=1)
    notes = [SUCCESS, *([f"Numbers of a cell: {words}"] if len(columns) > 1 else [])]
    notes.append(
        f"[low, high]: 95 % intervals across plays, {plays_condition(plays)}"
        if intervals
        else "The CSV form of the matrix has the 95 % intervals"
    )
    sides = ["left", *("right" for _ in heads[1:])]
    return Table(f"success in {words}", tuple(heads), lines, note="\n".join(notes), sides=sides, bold=bold)


def goals_of(grid: Grid) -> tuple[str, ...]:
    """Goals of the pairs of a matrix."""
    return goals([pair for line in grid.values() for pair in line.values()])


def most_dangerous(line: Mapping[str, Pair], columns: Sequence[str]) -> set[str]:
    """Attacks with the largest advantage on a defense in some goals; none if all are as good as guessing.

    Advantages are those of the success rates in the two decimals of the table, so that equal cells are equal.
    """
    shown = [
        (round(advantage(round(success.mean_rate, 2), success.chance), 2), attack)
        for attack, pair in line.items()
        for goal, success in pair.successes.items()
        if goal in columns
    ]
    most = max((size for size, _ in shown), default=0.0)
    return {attack for size, attack in shown if size == most > 0}


def grids(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], Grid]:
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


def _pair_cell(pair: Pair, columns: Sequence[str], intervals: bool) -> str:
    if not pair.successes:
        return pair.status
    rates = [None if success is None else success.rate for success in map(pair.success, columns)]
    if intervals:
        return "/".join("–" if rate is None else interval_text(rate.value, rate.low, rate.high) for rate in rates)
    return "/".join(number(None if rate is None else rate.value) for rate in rates)


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
