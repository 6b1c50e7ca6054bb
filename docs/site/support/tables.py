"""Tables of pages: text to the left, numbers to the right, long names that may break."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences of str
        Cells. Numbers stand to the right; texts that contain ``::`` are code.
    title : str
        Caption.
    notes : sequence of str
        Numbered notes below the table.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="text-align:left">{escape(column)}</th>' for column in self.columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        caption = f'<caption style="text-align:left">{_words(self.title)}</caption>' if self.title else ""
        notes = "".join(f"<li>{_words(note)}</li>" for note in self.notes)
        below = f"<ol>{notes}</ol>" if notes else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"

    def __str__(self) -> str:
        notes = [f"{number}. {note}" for number, note in enumerate(self.notes, 1)]
        return "\n".join([*(" | ".join(row) for row in (self.columns, *self.rows)), *notes])


def _cell(text: str) -> str:
    number = re.match(r"[+-]?[\d.,]+(e[+-]?\d+)?$", text)
    return f'<td style="text-align:{"right" if number else "left"}">{_words(text)}</td>'


def _words(text: str) -> str:
    """Escaped text; the names of tests in it are code that may break."""
    return " ".join(_code(word) if "::" in word else escape(word) for word in text.split(" "))


def _code(name: str) -> str:
    breakable = re.sub("(_|::|/)", r"\1<wbr>", escape(name))
    return f"<code>{breakable}</code>"
