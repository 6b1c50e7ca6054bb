"""Board and matrix as terminal tables and Markdown."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from leaderboard.pages.number_text import counted, number, range_text
from leaderboard.results.goals import goal_words
from leaderboard.results.name_parts import name_parts
from leaderboard.results.result import label
from leaderboard.statistics.board import Row, by_place
from leaderboard.statistics.pairs import Pair, goals

# Width of text on a terminal, where a Chinese or Japanese character takes two cells.


def terminal_width(text: str) -> int:
    """Cells that a line takes on a terminal.

    Examples
    --------
    >>> terminal_width("kyoto"), terminal_width("京都")
    (5, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def broken(line: str, width: int) -> list[str]:
    """A line as lines of at most `width` cells.

    Examples
    --------
    >>> broken("京都大学", 5)
    ['京都', '大学']
    >>> broken("kyoto-university", 6)
    ['kyoto-', 'univer', 'sity']
    """
    if terminal_width(line) == len(line):
        return textwrap.wrap(line, width)
    from rich.cells import chop_cells

    # Scripts with wide characters have no spaces between words.
    return chop_cells(line, width)


HEADERS = ("#", "defense", "guarantee", "utility", "worst attack", "success", "chance", "advantage", "score")
ALIGNMENT = ("right", "left", "left", "right", "left", "right", "right", "right", "right")
_DEFENSE, _ATTACK = HEADERS.index("defense"), HEADERS.index("worst attack")
SMALL = 0.05
"""Chance levels below this are shown with three decimals."""
LARGEST = (
    "max: the largest advantage measured, which is too large on average; "
    "an unbiased estimate takes two or more plays, and every attack measured in all of them"
)
"""What the mark of an advantage means."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyz"


def to_terminal(rows: Sequence[Row], width: int = 120) -> str:
    """The board as plain text, one table per scenario and variant.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    width : int
        Width of the terminal. From about 105 on, the table fits into it unless a guarantee is long.
    """
    tables = []
    for (scenario, variant), group in by_place(rows).items():
        cells = board_cells(group)
        fixed = sum(
            max(len(header), *(terminal_width(line[index]) for line in cells))
            for index, header in enumerate(HEADERS)
            if index not in (_DEFENSE, _ATTACK)
        )
        # Columns are two spaces apart; defense and worst attack share the remaining width.
        room = max(30, width - fixed - 2 * (len(HEADERS) - 1))
        longest = max(terminal_width(line[_ATTACK]) for line in cells)
        attack = max(14, min(longest, room // 2))
        for line in cells:
            line[_DEFENSE] = fold(line[_DEFENSE], room - attack)
            line[_ATTACK] = fold(line[_ATTACK], attack)
        body = _plain(HEADERS, cells, ALIGNMENT)
        tables.append(f"{place_title(scenario, variant)}\n\n{body}\n{board_notes(group)}")
    return "\n\n".join(tables)


def to_markdown(rows: Sequence[Row]) -> str:
    """The board as Markdown, one table per scenario and variant."""
    from tabulate import tabulate

    tables = []
    for (scenario, variant), group in by_place(rows).items():
        cells = [[cell.replace("|", r"\|") for cell in line] for line in board_cells(group)]
        body = tabulate(cells, HEADERS, tablefmt="pipe", colalign=ALIGNMENT, disable_numparse=True)
        tables.append(f"### {place_title(scenario, variant)}\n\n{body}\n\n{board_notes(group)}")
    return "\n\n".join(tables) + "\n" if tables else ""


def matrix_to_terminal(pairs: Sequence[Pair]) -> str:
    """The matrix as plain text: success in each goal, or the status of pairs without success."""
    tables = []
    for title, headers, cells, align in matrix_tables(pairs):
        folded = [[fold(cell, 30) for cell in line] for line in cells]
        tables.append(f"{title}\n\n{_plain([fold(header, 14) for header in headers], folded, align)}")
    return "\n\n".join(tables)


def matrix_to_markdown(pairs: Sequence[Pair]) -> str:
    """The matrix as Markdown: success in each goal, or the status of pairs without success."""
    from tabulate import tabulate

    tables = [
        f"### {title}\n\n{tabulate(cells, headers, tablefmt='pipe', colalign=align, disable_numparse=True)}\n"
        for title, headers, cells, align in matrix_tables(pairs)
    ]
    return "\n".join(tables)


def matrix_tables(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[str], list[list[str]], list[str]]]:
    """Title, headers, cells and alignment of each scenario and variant."""
    for (scenario, variant), grid in grids(pairs).items():
        attacks = list(dict.fromkeys(attack for line in grid.values() for attack in line))
        columns = goals([pair for line in grid.values() for pair in line.values()])
        cells = [
            [defense, *(_pair_cell(line[attack], columns) if attack in line else "" for attack in attacks)]
            for defense, line in grid.items()
        ]
        title = f"{place_title(scenario, variant)}: success in {' / in '.join(map(goal_words, columns))}"
        yield title, ["defense", *attacks], cells, ["left", *("right" for _ in attacks)]


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
    return [_cells(row, rank) for row, rank in zip(rows, rank_texts(rows), strict=True)]


def _cells(row: Row, rank: str) -> list[str]:
    attack = "–" if row.worst_attack is None else label(row.worst_attack, row.worst_parameters or {})
    goal = f" ({goal_words(row.goal)})" if row.goal else ""
    return [
        ("★ " if row.pareto else "") + rank,
        label(row.defense, row.parameters) + ("" if row.complete else " !"),
        row.guarantee or "none",
        _spread(row.utility, row.utility_low, row.utility_high),
        attack + goal,
        interval_text(row.success, row.success_low, row.success_high),
        number(row.chance, 3 if row.chance is not None and row.chance < SMALL else 2),
        advantage_text(row),
        number(row.score, 3),
    ]


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
        f"{counted(plays_text(rows), 'complete play')}; ★: on the Pareto front; "
        "± and [low, high]: 95 % intervals across plays"
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


def fold(text: str, width: int) -> str:
    """Text in lines of at most `width` on a terminal, broken at spaces; `name_parts` breaks longer words."""
    lines = [""]
    for word in text.split():
        space = " " if lines[-1] else ""
        parts = [word] if terminal_width(word) <= width else name_parts(word)
        for part in parts:
            if lines[-1] and terminal_width(lines[-1] + space + part) > width:
                lines.append(part)
            else:
                lines[-1] += space + part
            space = ""
    return "\n".join(lines)


def _plain(headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    """A plain table; tabulate's own headers would make each column two characters wider."""
    from tabulate import SEPARATING_LINE, tabulate

    lines: list[Sequence[str]] = [headers, [SEPARATING_LINE], *cells]
    return tabulate(lines, tablefmt="plain", colalign=align, disable_numparse=True)
