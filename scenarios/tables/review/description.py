"""A description of a table: a roles file with suggested roles, domains and reasons, for a person to review."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metrics.columns import CategoricalDomain, Domain, NumericDomain
from scenarios.tables.dataset import check_named, column_domains, columns_frame
from scenarios.tables.note import Note
from scenarios.tables.reading import (
    ISO,
    DateForm,
    TextColumn,
    TextTable,
    codes_among_numbers,
    mixed_marks,
    read_text_table,
)
from scenarios.tables.review.column_names import POSTCODES, POSTCODES_JAPANESE, hints_at
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.review.ordered_scales import with_scale_order
from scenarios.tables.review.suggestions import (
    BY_NAME_GROUP,
    BY_NAME_REPEATED,
    IDENTIFIER,
    QUASI_IDENTIFIER,
    SENSITIVE_VALUE,
    WEIGHT,
    Suggestion,
    people_notes,
    percent,
    quasi_identifier_reason,
    suggested_roles,
    uniqueness,
)
from scenarios.tables.review.summary import type_and_domain
from scenarios.tables.roles import CategoryColumn, Roles, read_roles
from scenarios.tables.roles_file import HEADER, roles_text
from scenarios.tables.toml.toml_file import read_bytes

WIDTH = 118
MOST_CATEGORIES = 10_000
"""Number of distinct texts up to which spellings are compared; a column with more holds no categories."""
DECIDE = """\
# It shows bounds and categories that occur in the table, so it is as confidential as the table until they are replaced.
# `undecided` lists columns whose role is a guess. Correct the role, then delete the name from the list.
# Columns that are no identifier and hold no sensitive value are quasi-identifiers: attackers may know them.
"""


@dataclass(frozen=True)
class Description:
    """A roles file for a table.

    Parameters
    ----------
    text : str
        Content of the roles file.
    roles : Roles
        The roles that it gives.
    notes : tuple of Note
        What was inferred about the file.
    """

    text: str
    roles: Roles
    notes: tuple[Note, ...]


class TableRows(NamedTuple):
    """Rows of a table, from which roles are suggested.

    Parameters
    ----------
    frame : DataFrame, shape (rows or fewer, columns)
        Values of the rows, or of a random sample.
    rows : int
        Number of rows of the table.
    missing : dict of str to int
        Number of the table's rows without a value, by column.
    """

    frame: pd.DataFrame
    rows: int
    missing: dict[str, int]


class DescribedTable:
    """A table in memory as its description reads it; one in parts samples its rows.

    Attributes
    ----------
    decided : dict of str to Suggestion
        Suggestions that do not rest on the rows, for columns that get no domain.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.decided: dict[str, Suggestion] = {}
        self._data = read_bytes(path)

    def texts(self, declared: Roles) -> TextTable:
        """The columns as text, as roles tell to read them."""
        return read_text_table(self.path, self._data, declared)

    def rows(self, columns: dict[str, TextColumn], domains: dict[str, Domain]) -> TableRows:
        """The rows of columns that were read."""
        frame = columns_frame(columns, domains)
        return TableRows(frame, len(frame), {name: int(frame[name].isna().sum()) for name in columns})


def describe_table(
    path: Path, roles: Path | None, output: Path, *, reading: Mapping[str, Any] | None = None
) -> Description:
    """Describe a table in memory; see `described_table`."""
    return described_table(DescribedTable(path), read_roles(roles, reading), roles, output)


def described_table(source: DescribedTable, declared: Roles, roles: Path | None, output: Path) -> Description:
    """Describe a table by suggested roles and inferred domains, each with its reason as a comment.

    Notes
    -----
    Domains are read from the records, so the description shows bounds and categories. It shows no value of identifiers
    and free text, which get no domain.
    """
    path, table = source.path, source.texts(declared)
    proposed, code_notes = _proposed_codes(table.columns, declared)
    if proposed:
        declared = declared.model_copy(update={"na": [*declared.na, *proposed]})
        table = source.texts(declared)
    table = table._replace(notes=[*table.notes, *code_notes])
    columns, notes, declared = _with_layout(table, declared)
    check_named(declared.named(), columns, roles, f"{path}, which has")
    free = {name: column for name, column in columns.items() if name not in declared.columns}
    flags = [name for name, column in free.items() if sorted(column.texts.slice(0, 3).to_pylist()) == ["0", "1"]]
    kinds = {**declared.columns, **dict.fromkeys(flags, CategoryColumn(type="category"))}
    empty = [name for name, column in free.items() if column.empty]
    without_domain = [*declared.identifiers, *empty, *source.decided]
    unread = declared.model_copy(update={"identifiers": without_domain, "columns": kinds})
    domains, inferred, _ = column_domains(columns, unread)
    domains |= {name: with_scale_order(domains[name]) for name in inferred}
    table_rows = source.rows(columns, domains)
    dates = {name: column.dates for name, column in columns.items() if column.dates is not None}
    described, suggestions, together = _with_suggestions(declared, table_rows, source.decided, dates)
    if table_rows.rows == 1:
        notes.insert(0, Note("one row"))
    notes += people_notes(suggestions)
    reasons = {suggestion.reason: name for name, suggestion in reversed(suggestions.items())}
    person = declared.person or reasons.get(BY_NAME_REPEATED)
    described = described.model_copy(update={"person": person, "group": declared.group or reasons.get(BY_NAME_GROUP)})
    notes += doubtful_values(
        table_rows.frame,
        dates,
        person,
        described.quasi_identifiers or [],
        described.sensitive,
        described.identifiers,
        described.group,
    )
    forms = {name: (domains.get(name), dates.get(name)) for name in columns}
    new_domains = {name: domains[name] for name in inferred if name not in described.identifiers}
    comments = {
        name: [
            *_comment(name, table_rows, forms[name], suggestions.get(name), described),
            *_review(name, new_domains, dates.get(name)),
        ]
        for name in columns
    }
    header = HEADER.format(name=" ".join(path.name.split()), command="describe") + DECIDE + together
    moved = (None if roles is None else roles.parent, output.parent)
    decimals = {
        name: digits
        for name, domain in new_domains.items()
        if isinstance(domain, NumericDomain)
        and not domain.integer
        and name not in dates
        and (digits := columns[name].decimals()) is not None
    }
    text = roles_text(header, described, list(columns), new_domains, comments, moved, dates, decimals)
    if not described.sensitive:
        notes.append(Note("sensitive unknown"))
    return Description(text, described, tuple(notes))


def _proposed_codes(columns: Mapping[str, TextColumn], declared: Roles) -> tuple[list[str], list[Note]]:
    """Codes among numbers that no column of other texts holds, which are proposed as missing values, and notes."""
    free = {name: column for name, column in columns.items() if name not in declared.columns}
    found = {name: codes for name, column in free.items() if (codes := codes_among_numbers(column))}
    texts = (column.texts.to_pylist() for name, column in columns.items() if name not in found)
    others = {text.strip() for of_column in texts for text in of_column}
    proposed = list(dict.fromkeys(code for codes in found.values() for code in codes if code not in others))
    notes = []
    for name, codes in found.items():
        words = ", ".join(f"{code} ({rows:,} row{'s' * (rows != 1)})" for code, rows in codes.items())
        kind = "codes among numbers" if codes.keys() <= {*proposed} else "codes in other columns"
        given = " ".join(f"--na {shlex.quote(code)}" for code in codes)
        notes.append(Note(kind, (name,), {"words": words, "given": given}))
    return proposed, notes


def _with_suggestions(
    declared: Roles, rows: TableRows, decided: Mapping[str, Suggestion], dates: Collection[str]
) -> tuple[Roles, dict[str, Suggestion], str]:
    """Roles for all columns, the suggestions by column, and comment lines on all quasi-identifiers together."""
    frame = rows.frame
    columns = list(map(str, frame.columns))
    with_role = {*declared.named_roles(), declared.person}
    free = [name for name in columns if name not in with_role]
    suggestions = suggested_roles(frame[free]) if free else {}
    suggestions |= {name: suggestion for name, suggestion in decided.items() if name in free}
    # Dates that differ in every record are known to others all the same, and identify by combination.
    known = {name for name in dates if frame[name].notna().any()}
    suggestions = {name: one for name, one in suggestions.items() if name not in known or one.role != IDENTIFIER}
    roles_of = {name: suggestions[name].role if name in suggestions else QUASI_IDENTIFIER for name in free}
    quasi_identifiers = [
        name for name in columns if name in (declared.quasi_identifiers or ()) or roles_of.get(name) == QUASI_IDENTIFIER
    ]
    measured = uniqueness(frame, quasi_identifiers)
    for name in quasi_identifiers:
        suggestions[name] = quasi_identifier_reason(name, frame[name], measured, date=name in dates)
    # A person who listed the quasi-identifiers has left the other columns out.
    left_out = free if declared.quasi_identifiers is not None else []
    # One value says nothing about a column.
    guessed = [name for name in free if suggestions[name].guess or rows.rows == 1]
    guesses = {*guessed, *left_out, *declared.undecided}

    def with_suggested(names: list[str], role: str) -> list[str]:
        return [*names, *(name for name in free if roles_of[name] == role)]

    weights = with_suggested([] if declared.weight is None else [declared.weight], WEIGHT)
    described = declared.model_copy(
        update={
            "weight": next(iter(weights), None),
            "unprotected": list(dict.fromkeys([*declared.unprotected, *weights])),
            "identifiers": with_suggested(declared.identifiers, IDENTIFIER),
            "quasi_identifiers": quasi_identifiers,
            "sensitive": with_suggested(declared.sensitive, SENSITIVE_VALUE),
            "undecided": [name for name in columns if name in guesses],
        }
    )
    lines = [
        (
            bool(quasi_identifiers),
            f"All quasi-identifiers together make {percent(measured.together)} of the records unique.",
        ),
        (
            bool(quasi_identifiers) and measured.rows < rows.rows,
            f"Shares of unique records are those of a sample of {measured.rows} of {rows.rows} records.",
        ),
        (
            len(frame) < rows.rows,
            f"Roles rest on a sample of {len(frame)} records, in which fewer values repeat than in all.",
        ),
    ]
    together = "".join(f"# {line}\n" for applies, line in lines if applies)
    return described, suggestions, together


def _with_layout(table: TextTable, declared: Roles) -> tuple[dict[str, TextColumn], list[Note], Roles]:
    """Columns of a table, notes, and the roles with the layout that was recognized.

    Texts that mean a missing value among numbers are declared for all columns, unless a column of text holds them too.
    """
    layout = {key: value for key, value in table.layout.items() if (key, value) != ("separator", ",")}
    texts = {name: column.texts.to_pylist() for name, column in table.columns.items() if name not in declared.columns}
    notes = [*table.notes, *doubtful_words(texts), *mixed_marks({name: table.columns[name] for name in texts})]
    for name, column in table.columns.items():
        if name not in declared.columns and (spellings := _spellings(column)):
            words = "category differs" if spellings == 1 else "categories differ"
            them = "it" if spellings == 1 else "them"
            notes.append(Note("spellings", (name,), {"spellings": f"{spellings} {words}", "them": them}))
    if "na" in layout:
        categories = {text.strip() for of in texts.values() for text in of}
        layout["na"] = [*declared.na, *(text for text in layout["na"] if text not in categories)]
    return table.columns, notes, declared.model_copy(update={key: value for key, value in layout.items() if value})


def _spellings(column: TextColumn) -> int:
    """Number of texts that equal an earlier one but for case and spaces around them; 0 in dates and long columns."""
    if column.dates is not None or len(column.texts) > MOST_CATEGORIES:
        return 0
    texts = {text for text in column.texts.to_pylist() if any(map(str.isalpha, text))}
    return len(texts) - len({text.strip().casefold() for text in texts})


def _comment(
    name: str,
    rows: TableRows,
    domain: tuple[Domain | None, DateForm | None],
    suggestion: Suggestion | None,
    described: Roles,
) -> list[str]:
    """Role, reason, type and missing values of a column as comment lines."""
    role = _role(name, described)
    guess = "?" if name in described.undecided else ""
    reason = f": {suggestion.reason}" if suggestion is not None else ", as declared"
    released = {IDENTIFIER: "; never released", SENSITIVE_VALUE: "; defenses that group release its values exactly"}
    kind, words = type_and_domain(*domain)
    if role != IDENTIFIER and words:
        # The domain of an identifier would show values.
        kind = f"{kind}, {words}"
    facts = f"{kind}; {rows.missing[name]} of {rows.rows} missing"
    wrapped = textwrap.wrap(
        f"{name}: {role}{guess}{reason}{released.get(role, '')}",
        WIDTH,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [*wrapped, f"#   {facts}"]


def _role(name: str, described: Roles) -> str:
    by_role: dict[str, list[str]] = {
        WEIGHT: [] if described.weight is None else [described.weight],
        IDENTIFIER: described.identifiers,
        QUASI_IDENTIFIER: described.quasi_identifiers or [],
        SENSITIVE_VALUE: described.sensitive,
        "unprotected": described.unprotected,
        "person": [] if described.person is None else [described.person],
        "group": [] if described.group is None else [described.group],
    }
    return next((role for role, names in by_role.items() if name in names), "no role")


def _review(name: str, new_domains: Mapping[str, Any], dates: DateForm | None) -> list[str]:
    bounds = " Bounds are year-month-day, or in its format." if dates is not None and dates.format != ISO else ""
    if name not in new_domains:
        return []
    lines = [f"#   Read from the data: review this domain.{bounds}"]
    if isinstance(new_domains[name], CategoricalDomain) and new_domains[name].ordered:
        lines.append("#   Its words are steps of a scale, listed from the lowest: review this order.")
    if isinstance(new_domains[name], NumericDomain) and hints_at(name, POSTCODES, POSTCODES_JAPANESE):
        lines.append("#   Postcodes are read as numbers here: noise and synthesis release some that do not exist.")
        lines.append('#   With type = "category" in place of the lines below, only those of the table are released.')
    return lines
