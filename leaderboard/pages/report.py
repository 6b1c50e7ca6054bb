"""Reports of experiments: sections with text, tables, line charts and histograms."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sql

from leaderboard import Lines, Series, Store, canonical
from leaderboard.pages.documents import render
from leaderboard.pages.line_chart import draw
from leaderboard.pages.number_text import measure, name_parts, number
from leaderboard.pages.tables import Column, broken, cells_of, csv_lines, fold, terminal_width, text_table

Value = str | float | int | None
NARROWEST = 10
"""Width down to which the columns of a table are narrowed on a terminal."""
BRIEF = 4
"""Characters of the longest rank."""
PHONE, PADDING = 52, 2
"""Characters in a row of a table on a phone, and characters that the space around a cell takes."""


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes
    ----------
    title : str
        Title of the table.
    columns : tuple of str
        Column headings.
    rows : sequence of sequences
        Texts and numbers; None for a missing value.
    digits : int or None
        Decimals of numbers of type float. With None, integers have none and fractions three (`measure`).
    note : str
        Note below the table, of one line or several.
    sides : sequence of {"left", "right"} or None
        Alignment of the columns; None for that of the values (`align`).
    bold : collection of tuple of int
        Row and column of each cell that LaTeX sets in bold type.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    digits: int | None = 1
    note: str = ""
    sides: Sequence[str] | None = None
    bold: Collection[tuple[int, int]] = ()

    @classmethod
    def of(cls, title: str, columns: Sequence[Column], records: Iterable[Any], note: str = "") -> Table:
        """A table of records in the columns that people see."""
        shown = [column for column in columns if column.heading is not None]
        heads = tuple(str(column.heading) for column in shown)
        return cls(title, heads, cells_of(shown, records), note=note, sides=[column.align for column in shown])

    @property
    def brief(self) -> bool:
        """Whether the first column holds ranks or other texts of a few characters."""
        return all(len(cells[0]) <= BRIEF for cells in self.texts())

    @property
    def wide(self) -> bool:
        """Whether a row is too wide for a phone, where its cells stand one below the other."""
        columns = zip(self.columns, *self.texts(), strict=True)
        # A heading may be broken between words.
        widths = (max(max(map(len, head.split()), default=0), *map(len, cells)) for head, *cells in columns if cells)
        return sum(width + PADDING for width in widths) > PHONE

    @property
    def align(self) -> list[str] | None:
        """Alignment of the columns: texts of the first row left, numbers right, if none is given; None without rows."""
        if self.rows and self.sides is not None:
            return list(self.sides)
        return ["left" if isinstance(value, str) else "right" for value in self.rows[0]] if self.rows else None

    def texts(self) -> list[list[str]]:
        """Cells as text."""
        return [[self._text(value) for value in row] for row in self.rows]

    def _text(self, value: Value) -> str:
        if value is None or isinstance(value, float):
            return measure(value) if self.digits is None else number(value, self.digits)
        return value if isinstance(value, str) else f"{value:,}"


@dataclass(frozen=True)
class Bars:
    """A histogram with a second one as an outline.

    Attributes
    ----------
    title : str
        Title of the histogram.
    counts : sequence of float
        Heights of the bars.
    outline : sequence of float
        Heights of the outline, one per bar.
    top : float
        Largest height that is drawn, positive; equal for histograms that are compared.
    ends : tuple of str
        Labels of the first and the last bar.
    """

    title: str
    counts: Sequence[float]
    outline: Sequence[float]
    top: float
    ends: tuple[str, str]


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    title : str
        Its heading.
    text : tuple of str
        Paragraphs.
    tables : tuple of Table
        Its tables.
    bars : tuple of Bars
        Its histograms.
    lines : tuple of Lines
        Its line charts.
    ends_page : bool
        Whether the next section begins on a new page in print.
    """

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    bars: tuple[Bars, ...] = field(default=(), repr=False)
    lines: tuple[Lines, ...] = field(default=(), repr=False)
    ends_page: bool = False


def table_sections(tables: Mapping[str, Sequence[Table]]) -> list[Section]:
    """A section for each title with its tables."""
    return [Section(title, tables=tuple(own)) for title, own in tables.items()]


def render_report(title: str, about: Mapping[str, str], sections: Sequence[Section]) -> str:
    """HTML page of a report, which loads no external resources.

    Parameters
    ----------
    title : str
        Its heading.
    about : mapping of str
        Facts about the run.
    sections : sequence of Section
        Sections of the report.
    """
    return render(
        "report.html",
        {"rectangles": _rectangles, "outlined": _outlined, "end_labels": _end_labels, "draw": draw},
        title=title,
        about=about,
        sections=sections,
    )


def report_to_terminal(sections: Sequence[Section], width: int = 120) -> str:
    """Tables of a report as plain text.

    Parameters
    ----------
    sections : sequence of Section
        Sections of the report.
    width : int
        Width of the terminal. The widest cells are wrapped until a table fits.
    """
    return _joined(sections, "simple", width)


def report_to_markdown(sections: Sequence[Section]) -> str:
    """Tables of a report as Markdown."""
    return _joined(sections, "pipe")


def report_to_csv(sections: Sequence[Section]) -> str:
    """Tables of a report as CSV, one line per cell: section, table, row (from 1), column, value (not rounded)."""
    return csv_lines(
        ("section", "table", "row", "column", "value"),
        (
            (section.title, table.title, line, column, value)
            for section, table in _tables(sections)
            for line, row in enumerate(table.rows, start=1)
            for column, value in zip(table.columns, row, strict=True)
        ),
    )


def report_to_json(sections: Sequence[Section]) -> str:
    """Tables of a report as JSON: a list of objects with section, title, columns, rows and note."""
    tables = [
        {
            "section": section.title,
            "title": table.title,
            "columns": table.columns,
            "rows": table.rows,
            "note": table.note,
        }
        for section, table in _tables(sections)
    ]
    return json.dumps(tables, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _tables(sections: Sequence[Section]) -> Iterator[tuple[Section, Table]]:
    return ((section, table) for section in sections for table in section.tables)


def _joined(sections: Sequence[Section], form: str, width: int | None = None) -> str:
    parts = []
    for section, table in _tables(sections):
        limits = None if width is None or not table.rows else _column_widths(table, width)
        cells, heads = table.texts(), list(table.columns)
        if limits is not None:
            # Not left to tabulate, which would take 512,000 for an integer here and fail.
            cells = [[_folded(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in cells]
            heads = [_folded(head, limit) for head, limit in zip(heads, limits, strict=True)]
        body = text_table(heads, cells, table.align, form)
        lines = table.note.splitlines()
        note = "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in lines) if width else table.note
        title = heading(section, table)
        parts.append("\n\n".join(filter(None, [f"### {title}" if title and form == "pipe" else title, body, note])))
    return "\n\n\n".join(parts) + "\n" * bool(parts)


def heading(section: Section, table: Table) -> str:
    """Heading of a table where it stands alone."""
    return ": ".join(filter(None, [section.title, table.title]))


def _folded(text: str, width: int) -> str:
    """A cell in lines of at most `width` on a terminal; a longer word is broken at capitals, if that suffices."""
    lines = (part for line in text.split("\n") for part in fold(line, width).split("\n"))
    return "\n".join("\n".join(broken(line, width)) for line in lines)


def _column_widths(table: Table, width: int) -> list[int]:
    """Widths of the columns, two spaces apart, of which the widest are narrowed until the table fits."""
    columns = zip(table.columns, *table.texts(), strict=True)
    widths = [max(map(terminal_width, column)) for column in columns]
    room = width - 2 * (len(widths) - 1)
    whole = [max(NARROWEST, *map(_longest_part, column)) for column in zip(table.columns, *table.texts(), strict=True)]
    # Words are broken only if the table then fits.
    narrowest = [min(NARROWEST, one) for one in widths]
    for least in (whole, *([narrowest] if sum(narrowest) <= room else [])):
        while sum(widths) > room and (wide := [at for at, now in enumerate(widths) if now > least[at]]):
            widths[max(wide, key=lambda at: (widths[at], -at))] -= 1
    return widths


def _longest_part(text: str) -> int:
    """Width on a terminal of the longest part of a cell in which no line breaks."""
    return max((terminal_width(part) for word in text.split() for part in name_parts(word)), default=0)


_WIDTH, _HEIGHT = 296.0, 120.0
"""Size of a histogram, in the chart's units."""


_GAP, _NARROW = 0.14, 12.0
"""Gap between bars as a share of their distance, and the distance below which the outline is one staircase."""
_LETTER = 6.5
"""Mean width of a letter, in the chart's units."""


def _outlined(bars: Bars) -> str:
    """Path of the outline: a frame around each bar's place, or a staircase if bars are narrow."""
    step = _WIDTH / len(bars.outline)
    if step >= _NARROW:
        return _rectangles(bars.outline, bars.top)
    stairs = "".join(f"V{height:.1f}h{step:.2f}" for height in _heights(bars.outline, bars.top))
    return f"M0 {_HEIGHT:g}{stairs}V{_HEIGHT:g}"


def _rectangles(counts: Sequence[float], top: float) -> str:
    """Path of bars, each a rectangle in the middle of its step."""
    step = _WIDTH / len(counts)
    return "".join(
        f"M{(index + _GAP / 2) * step:.1f} {_HEIGHT:g}V{height:.1f}h{step * (1 - _GAP):.1f}V{_HEIGHT:g}z"
        for index, height in enumerate(_heights(counts, top))
    )


def _end_labels(bars: Bars) -> list[tuple[float, str, str]]:
    """Coordinates, text anchors and texts of the first and the last bar's labels: below the bar if it is wide."""
    half = _WIDTH / len(bars.counts) / 2
    if half < _LETTER * max(map(len, bars.ends)) / 2:
        return [(0.0, "start", bars.ends[0]), (_WIDTH, "end", bars.ends[1])]
    return [(round(half, 1), "middle", bars.ends[0]), (round(_WIDTH - half, 1), "middle", bars.ends[1])]


def _heights(counts: Sequence[float], top: float) -> list[float]:
    return [_HEIGHT * (1 - min(1.0, max(0.0, count / top))) for count in counts]


# Reports of experiments in a database of results: the last complete report of each scenario.

_schema = sql.MetaData()
_reports = sql.Table(
    "tokumei_reports",
    _schema,
    sql.Column("scenario", sql.Text, primary_key=True),
    sql.Column("title", sql.Text, nullable=False),
    sql.Column("about", sql.Text, nullable=False),
    sql.Column("sections", sql.Text, nullable=False),
)


@dataclass(frozen=True)
class StoredReport:
    """A complete report of an experiment.

    - scenario, title: Name and title of the scenario.
    - about: Facts about the run: scenario, plays and seed.
    """

    scenario: str
    title: str
    about: Mapping[str, str]
    sections: tuple[Section, ...]


def keep_report(store: Store, report: StoredReport) -> None:
    """Store a report in place of an earlier one of the same scenario."""
    row = {
        "scenario": report.scenario,
        "title": report.title,
        "about": canonical(dict(report.about)),
        "sections": canonical([asdict(section) for section in report.sections]),
    }
    with store.transaction_alone() as connection:
        _schema.create_all(connection)
        connection.execute(_reports.delete().where(_reports.c.scenario == report.scenario))
        connection.execute(_reports.insert(), row)


def stored_reports(store: Store, scenarios: Sequence[str] = ()) -> list[StoredReport]:
    """Reports of a database by name of their scenario, all of them or those named.

    Raises ValueError if a report was changed by others.
    """
    rows = store.rows_of(_reports, _reports.c.scenario)
    return [_report(row) for row in rows if not scenarios or row["scenario"] in scenarios]


def _report(row: sql.RowMapping) -> StoredReport:
    try:
        sections = tuple(_section(content) for content in json.loads(row["sections"]))
        about = {str(name): str(value) for name, value in json.loads(row["about"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"the report of {row['scenario']!r} is damaged ({type(error).__name__})") from None
    return StoredReport(row["scenario"], row["title"], about, sections)


def _section(content: dict[str, Any]) -> Section:
    return Section(
        content["title"],
        tuple(content["text"]),
        tuple(Table(**{**table, "columns": tuple(table["columns"])}) for table in content["tables"]),
        tuple(Bars(**{**bars, "ends": tuple(bars["ends"])}) for bars in content["bars"]),
        tuple(
            Lines(**{**lines, "series": tuple(Series(**series) for series in lines["series"])})
            for lines in content["lines"]
        ),
    )
