"""Board and matrix as terminal tables and Markdown."""

from __future__ import annotations

import csv
import io
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.pages.number_text import counted, name_parts, number, range_text
from leaderboard.results import goal_words, label
from leaderboard.statistics import Pair, Row, by_place, goals, plays_condition

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


def text_table(
    heads: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str] | None = None, style: str = "simple"
) -> str:
    r"""A table as text, in one of tabulate's styles; in Markdown (``pipe``), bars in cells are escaped.

    - heads: Headings; none for a table without them.
    - align, {"left", "right"}: Alignment of each column; left by default.
    - style, {"simple", "plain", "pipe", "html"}: One of tabulate's styles.

    Examples
    --------
    >>> print(text_table(["set", "n"], [["a|b", "1"]], ["left", "right"], "pipe"))
    | set   |   n |
    |:------|----:|
    | a\|b  |   1 |
    """
    from tabulate import SEPARATING_LINE, tabulate

    lines: list[Sequence[str]] = list(cells)
    if style == "pipe":
        lines = [[cell.replace("|", r"\|") for cell in line] for line in cells]
    if style == "plain" and heads:
        # Tabulate's headers would make each column two characters wider.
        heads, lines = (), [heads, [SEPARATING_LINE], *lines]
    return tabulate(lines, heads, tablefmt=style, colalign=align, disable_numparse=True)


def csv_lines(head: Sequence[str], lines: Iterable[Iterable[object]]) -> str:
    """A heading and lines as CSV; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return text.getvalue()


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
        attack = max(14, min(max(terminal_width(line[_ATTACK]) for line in cells), room // 2))
        for line in cells:
            line[_DEFENSE] = fold(line[_DEFENSE], room - attack)
            line[_ATTACK] = fold(line[_ATTACK], attack)
        body = text_table(HEADERS, cells, ALIGNMENT, "plain")
        tables.append(f"{place_title(scenario, variant)}\n\n{body}\n{board_notes(group)}")
    return "\n\n".join(tables)


def to_markdown(rows: Sequence[Row]) -> str:
    """The board as Markdown, one table per scenario and variant."""
    tables = [
        f"### {place_title(*place)}\n\n{text_table(HEADERS, board_cells(group), ALIGNMENT, 'pipe')}\n\n"
        f"{board_notes(group)}"
        for place, group in by_place(rows).items()
    ]
    return "\n\n".join(tables) + "\n" if tables else ""


def matrix_to_terminal(pairs: Sequence[Pair]) -> str:
    """The matrix as plain text: success in each goal, or the status of pairs without success."""
    folded = (
        (title, [fold(header, 14) for header in headers], [[fold(cell, 30) for cell in line] for line in cells], align)
        for title, headers, cells, align in matrix_tables(pairs)
    )
    return "\n\n".join(
        f"{title}\n\n{text_table(headers, cells, align, 'plain')}" for title, headers, cells, align in folded
    )


def matrix_to_markdown(pairs: Sequence[Pair]) -> str:
    """The matrix as Markdown: success in each goal, or the status of pairs without success."""
    return "\n".join(
        f"### {title}\n\n{text_table(headers, cells, align, 'pipe')}\n"
        for title, headers, cells, align in matrix_tables(pairs)
    )


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
    ranks = (("★ " if row.pareto else "") + rank for row, rank in zip(rows, rank_texts(rows), strict=True))
    return [[rank, *cells] for rank, cells in zip(ranks, cells_of(COLUMNS, rows), strict=True)]


@dataclass(frozen=True)
class Column:
    """A column of a table of records, for all writers.

    - name: Field of a record, and name of the column in CSV and JSON.
    - heading: Heading on tables for people; None if they do not show the column.
    - align, {"left", "right"}: Alignment on tables.
    - text: Cell of a record on tables; by default the field as text.
    - in_csv: Whether CSV has the column; JSON has all.
    - page: Heading on the board's page, if it is another one.
    - style: Classes of the column's cells on the board's page.
    """

    name: str
    heading: str | None = None
    align: str = "left"
    text: Callable[[Any], str] | None = None
    in_csv: bool = True
    page: str = ""
    style: str = ""

    def cell(self, record: Any) -> str:
        """Cell of a record on tables."""
        return str(self.value(record)) if self.text is None else self.text(record)

    def value(self, record: Any) -> Any:
        """Value of a record in CSV and JSON."""
        return getattr(record, self.name)


def cells_of(columns: Sequence[Column], records: Iterable[Any]) -> list[list[str]]:
    """Cells of records in the columns that tables for people show."""
    return [[column.cell(record) for column in columns if column.heading is not None] for record in records]


def records_as_text(columns: Sequence[Column], records: Iterable[Any], style: str) -> str:
    """Records as a table for people, in one of tabulate's styles (`text_table`)."""
    shown = [column for column in columns if column.heading is not None]
    align = [column.align for column in shown]
    return text_table([str(column.heading) for column in shown], cells_of(columns, records), align, style)


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
_DEFENSE, _ATTACK = HEADERS.index("defense"), HEADERS.index("worst attack")


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


def fold(
    text: str,
    width: int,
    parts_of: Callable[[str], list[str]] = name_parts,
    size: Callable[[str], int] = terminal_width,
) -> str:
    """Text in lines of at most a width, broken at spaces; longer words are broken between their parts.

    - width: Largest size of a line, unless a part is larger.
    - size: Size of a line; by default the cells that it takes on a terminal.
    """
    lines = [""]
    for word in text.split():
        space = " " if lines[-1] else ""
        parts = [word] if size(word) <= width else parts_of(word)
        for part in parts:
            if lines[-1] and size(lines[-1] + space + part) > width:
                lines.append(part)
            else:
                lines[-1] += space + part
            space = ""
    return "\n".join(lines)
