"""Width of text on a terminal, where a Chinese or Japanese character takes two cells."""

from __future__ import annotations

import textwrap


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
