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
        Cells. Those that start with a digit or a sign stand to the right, those that contain ``::`` are code.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="text-align:left">{escape(column)}</th>' for column in self.columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        return "\n".join(" | ".join(row) for row in (self.columns, *self.rows))


def _cell(text: str) -> str:
    number = re.match(r"[+-]?[\d.,]+(e[+-]?\d+)?$", text)
    words = re.sub(r"(_|::|/)", r"\1<wbr>", escape(text))
    inner = f"<code>{words}</code>" if "::" in text else escape(text)
    return f'<td style="text-align:{"right" if number else "left"}">{inner}</td>'
