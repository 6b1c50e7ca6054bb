"""What was inferred about a table, or is doubtful in it: records, which are worded here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

NOTE, WARNING = "note", "warning"
_READ = {
    "sheets": "the first of {sheets} sheets is read",
    "postcodes": (
        "{names}: a postcode by its name, but its cells are numbers, which lose leading zeros; make them text cells"
    ),
    "separator": "fields are separated by {separator}, inferred from the first lines",
    "numbers as names": (
        "names of columns are numbers; if the first line is a record, put a line with names before it"
    ),
    "one column": "the table has one column; if blanks separate its fields, give --delimiter ' '",
    "parts": "{parts} parts, in the order of their names",
    "nameless and empty": "column {position} has neither a name nor a value, and is left out",
    "nameless": "column {position} has no name and is called {name!r}",
    "zone": "{names}: times of the zone {zone} were converted to UTC",
    "fractions of seconds": "{names}: fractions of seconds were cut off",
    "dates": "{names}: dates of the format {format}, inferred from all values",
    "eras": "{names}: years of Japanese eras are read, and released, as years of the common calendar",
    "short eras": (
        "{names}: such as S55 or H3; if they are years of Japanese eras, write 昭和55年 or 1980, which are numbers"
    ),
    "times of day": (
        "{names}: times of day, which are read as categories; for numbers write minutes, such as 870 for 14:30"
    ),
    "short years": "{names}: years of two digits are 1969 to 2068",
    "zoned dates": "{names}: {zoned}",
    "compact dates": (
        "{names}: numbers or codes, though all values look like dates such as 20190117, 170119 or 17.01.19; if they "
        'are, declare type = "date" and format = {formats}'
    ),
    "compact dates as numbers": (
        "{names}: every number is a date such as 20190117; releases hold numbers that are no dates, unless the roles "
        'file declares type = "date" and format = "{format}"'
    ),
    "compact months": (
        "{names}: every number is a year and month such as 201901; releases may hold numbers that are none, unless the "
        "roles file declares categories, or the table has a day in each, such as 20190101"
    ),
    "day or month": (
        '{names}: dates whose day and month cannot be told apart; declare type = "date" and format = {formats}'
    ),
    "nearly dates": (
        "{names}: {others} of {texts} distinct texts are no date of the format {format}, but the others are; to see "
        'which, declare type = "date"{declared}'
    ),
    "decimals or thousands": (
        "{names}: commas or points may mark decimals or separate thousands, so these texts are categories; give "
        "--decimal . or --decimal , for numbers"
    ),
    "decimal commas": "{names}: decimal commas",
    "wide digits": "{names}: digits or signs of double width",
    "units": "{names}: numbers with the unit {units}, read and released without it",
    "several units": (
        "{names}: not all numbers have one unit ({units}), so that these texts are categories; write all in one unit"
    ),
    "numbers or codes": (
        "{names}: blanks may separate thousands or parts of a code, so that these texts are categories; declare type = "
        '"number" for numbers'
    ),
    "thousands": "{names}: {marks} separate thousands",
    "missing among numbers": "{names}: {words} counts as missing among {kind}",
    "mixed marks": (
        "{names}: decimal commas ({commas}) and points ({points}) are mixed, so that these texts are categories; "
        "write all numbers in one form"
    ),
    "all quasi-identifiers": "no {missing} declared: every {others}column is a quasi-identifier",
    "header of a hierarchy": "{names}: the first line of {file} is a header, which is left out",
    "unused labels": "{names}: releases do not use the hierarchy's label {labels}, which {reason}",
    "inferred domain": "{names}: {domain}, inferred from the data, hence not public",
    "declared domain": "{names}: {domain}",
    "no hierarchy": (
        "{names}: no hierarchy declared, so GlobalRecoding and Incognito coarsen by default steps: each joins two "
        "neighbouring bins or ordered categories; categories without an order become * at once"
    ),
    "no role": "{names}: no role declared, hence left out; 'unprotected' lists what may go out as is",
    "unprotected": "{names}: unprotected; released as they are unless a defense names them",
    "weights": (
        "{names}: survey weights, which nobody is assumed to know; released as they are unless a defense names them"
    ),
}
"""Words of the kinds of notes on how a table was read, which say no more than its roles and domains do."""
_SAID = {
    **{kind: (NOTE, words) for kind, words in _READ.items()},
    "text": (NOTE, "{text}"),
    "date for a gap": (NOTE, "{names}: {date} in {rows} of {of:,}; if it means a missing value, empty these fields"),
    "suppressed gaps": (
        NOTE,
        "{names}: {cells} of {rows:,} {are} empty, and {others} no missing value there; read as suppressed (*)",
    ),
    "unknown cells": (NOTE, "{names}: {cells} of {rows:,} {verb} {what}; read as suppressed (*){hint}"),
    "cells outside": (
        NOTE,
        "{names}: {cells} of {rows:,} {verb} outside the domain, and utility counts them at its ends; if such a number "
        "means a suppressed cell, add --suppressed TEXT",
    ),
    "other spellings": (
        NOTE,
        "{names}: {cells} of {rows:,} in other spellings, such as 60-69, [60, 70[, 60+ or 6*, read as the intervals or "
        "sets that they mean",
    ),
    "unread cells": (
        NOTE,
        "{names}: {cells} of {rows:,} {verb} {what}, and each such text counts as a value of its own; if it means a "
        "suppressed cell, add --suppressed TEXT",
    ),
    "nobody's categories": (
        NOTE,
        "{names}: {unknown} released {categories} that no {person} has, in {those} of {rows} rows{doubts}",
    ),
    "nobody's numbers": (
        NOTE,
        "{names}: {those} of {rows} rows lie outside the range of the {person}s' numbers{doubts}",
    ),
    "lacking in a release": (NOTE, "lacks {names}, which counts as suppressed"),
    "only in a release": (NOTE, "{names}: not in the original table, left out"),
    "released without a role": (
        NOTE,
        "{names}: no role declared, but released; attackers use it, and utility leaves it out",
    ),
    "intervals or sets": (NOTE, "intervals or sets in {names}"),
    "suppressed cells": (NOTE, "suppressed cells (*) in {names}"),
    "other number of rows": (NOTE, "the release has {rows}, and the original table has {records}"),
    "lacking in candidates": (NOTE, "the candidates lack {names}, which is therefore not compared"),
    "domain of candidates": (NOTE, "{names}: {domain}, inferred from the candidates"),
    "candidates outside": (
        NOTE,
        "{names}: {outside} of {candidates} candidates lie outside the domain that the channel states; by the channel "
        "no released row stems from them",
    ),
    "rows of nobody": (NOTE, "by the channel {rows} of {all} released rows stem from no candidate"),
    "answers about rows": (
        NOTE,
        "rows are counted, not people: the candidates lack {names}, so an answer that names another row of the same "
        "person is not called right",
    ),
    "classes of rows": (
        NOTE,
        "classes and risks count rows; if {names!r} repeats in the original table, they hold fewer people: `tokumei "
        "validate` and `tokumei defend` count them",
    ),
    "classes of rows or people": (
        NOTE,
        "classes and risks count rows; if people have several, they hold fewer people: `tokumei validate` says whether "
        "{identifiers} repeats in the original table",
    ),
    "unnamed groups": (
        NOTE,
        "risks are those of single members: the release does not name its groups ({names}), so that the risk of a "
        "household is not measured; `tokumei defend` says it",
    ),
    "drawn rows": (NOTE, "{what} measured on {rows:,} drawn rows"),
    "classes not searched": (
        NOTE,
        "{classes:,} classes do not fit into memory, so that sets of columns that single out records are not searched; "
        "raise --memory",
    ),
    "sample": (NOTE, "warnings rest on a random sample of {rows:,} records"),
    "inferred domains": (NOTE, "inferred from the data, hence not public: {names}"),
    "impossible": (NOTE, "impossible: {cells}; {holding}"),
    "impossible in a release": (
        NOTE,
        "{method} may release rows that {roles} declares impossible: only synthesizers with the parameter "
        "structural_zeros obey [[impossible]]",
    ),
    "word for a gap": (NOTE, "{names}: {words} {are}; if it means a missing value, give {given}"),
    "weights unread": (
        NOTE,
        "{names}: not all cells are listed numbers above 0, so that no individual risk is estimated from the weights",
    ),
    "relative weights": (
        NOTE,
        "{names}: weights below 1 count no people, so they are relative; give --population-size for individual risks",
    ),
    "codes among numbers": (
        NOTE,
        "{names}: numbers apart from {words}; proposed as missing values, as {given} reads them",
    ),
    "codes in other columns": (
        NOTE,
        "{names}: numbers apart from {words}, which other columns hold too, so that it is text; {given} reads them as "
        "missing in all columns",
    ),
    "gaps in a scale": (
        NOTE,
        "{names}: an ordered scale apart from {words}, which {are}; with {given} describe proposes its order",
    ),
    "nines": (
        NOTE,
        "{names}: {number:g} in {rows} rows, where all others are from {low:g} to {high:g}; if it means a missing "
        "value, empty these fields",
    ),
    "impossible dates": (NOTE, "{names}: {faults}; if they are errors or mean a missing value, empty them"),
    "heap of dates": (
        NOTE,
        "{names}: one date stands in {rows} rows, and every other in at most {others}; if it means a missing value, "
        "empty these fields",
    ),
    "far date": (
        NOTE,
        "{names}: the {end} date stands in {rows} rows, far from all others; if it means a missing value, empty these "
        "fields",
    ),
    "end before beginning": (NOTE, "{names}: {rows} before {earlier} in the same row, which is otherwise first"),
    "twice a day": (
        NOTE,
        "{names}: {rows} the same {who} and the same day in {day} as an earlier row; if it was exported twice, "
        "keep one of them",
    ),
    "changing trait": (
        NOTE,
        "{names}: differs between rows of the same person for {who}; correct it, or attackers and measurements take "
        "them for others",
    ),
    "telling column": (
        NOTE,
        "{columns[0]} tells {columns[1]}: {telling} of its {values} values go with one value of {columns[1]} each, in "
        "{share:.0%} of the records; leave {columns[0]} out, or make it coarser",
    ),
    "spellings": (
        NOTE,
        "{names}: {spellings} from another one only in case or spaces around {them}; if they mean the same, make them "
        "one in the table",
    ),
    "taken for an identifier": (NOTE, "{names}: taken for an identifier, {reason}"),
    "one row": (
        NOTE,
        "the table has 1 row, too few to tell roles, bounds and categories: decide each of them yourself",
    ),
    "sensitive unknown": (
        NOTE,
        "no column was recognized as sensitive; list in `sensitive` what nobody should learn, such as an illness: "
        "without it, no l-diversity protects the value and no attack on it is measured",
    ),
    "hardly changed": (
        NOTE,
        "{names}: less than 1 % of the released cells differ from the original ones, so that attackers who know these "
        "columns find their values; larger parameters or a further method change them",
    ),
    "gaps vanish": (
        NOTE,
        "missing values vanish: the release has none in {gaps}; each of its rows has a value there",
    ),
    "stars": (NOTE, "In classes, * counts as a value of its own; it singles nobody out.{suppressed}"),
    "empty cell as a value": (
        NOTE,
        "{names}: an empty cell counts as a value of its own, which may single somebody out. If it was suppressed, "
        'write * in its place, or add --suppressed "".',
    ),
    "suppressed in classes": (
        NOTE,
        "in classes, * counts as a value of its own, and the smallest has {k} rows. If * may be any value, {any_value} "
        "rows or more agree with each.{suppressed}",
    ),
    "gaps in classes": (
        NOTE,
        "{names}: what is guaranteed counts a missing value as a value of its own, and rows in which it is missing as "
        "alike",
    ),
    "gaps in diversity": (
        NOTE,
        "{names}: what is guaranteed counts a missing value as a value of its own, so a class of one value and missing "
        "ones is 2-diverse",
    ),
    "unknown as a value": (
        NOTE,
        "{names}: an empty cell counts as a value of its own in l, alpha and t. So a class of one value and empty "
        "cells is 2-diverse.",
    ),
    "set as a value": (
        NOTE,
        "{names}: a set, an interval or * leaves several values, but counts as a value of its own in l, alpha, t and "
        "classes with one value.",
    ),
    "plain table": (
        WARNING,
        "No cell is an interval, a set or *. If the rows are synthetic, classes mean little: see what attacks find "
        "with `tokumei rank` or `tokumei report`. If values were changed, as by noise or swapping, exact matching does "
        "not apply: `tokumei attack` links the rows.",
    ),
    "noised": (
        WARNING,
        "{names}: nearly all numbers differ, or the roles do not allow them, as after noise. Exact matching does not "
        "apply to noised numbers, so these classes and risks say little. `tokumei attack` and `tokumei report` show "
        "who is linked.",
    ),
    "nothing sensitive": (WARNING, "no sensitive column is declared: attacks on sensitive values are not measured"),
    "undecided": (WARNING, "roles that nobody has decided yet: {undecided}"),
    "no identifier by role": (WARNING, "{names}: no identifier by role, but {reason}"),
    "repeated identifiers": (
        WARNING,
        "identifiers that repeat: {counts}. No column is named as `person`, so k and epsilon hold for rows, not for "
        "people. If each value is a person, add the line {line} at the top of the roles file. `tokumei split "
        "--drop-repeated` leaves out rows that were exported twice",
    ),
    "rows of people": (
        WARNING,
        "{names}: {rows}; k and epsilon count rows, so they guarantee people less; utility counts rows, too; make one "
        "row of each person first, as by `tokumei split --one-row`",
    ),
    "rows of groups": (
        WARNING,
        "{names}: {rows}; k and epsilon count members, and who recognizes one finds the group; `defend` says its risk",
    ),
    "risk of groups": (
        NOTE,
        "{names}: somebody in a group is recognized with probability {highest} at most, {mean} on average (1 - the "
        "product of 1 - 1/size of the class over its members)",
    ),
    "value of a group": (
        WARNING,
        "{names}: the rows of a {unit} ({column}) share it, and {rows:,} of {total:,} rows hold a value that no other "
        "{unit} has. It names the {unit} though classes are large: recode it, or make it a quasi-identifier",
    ),
    "plays of people": (
        WARNING,
        "people are drawn with all their rows ({names}: {rows}), and success and advantages are those of people; k and "
        "epsilon of guarantees count rows, so they guarantee people less",
    ),
    "rounded": (
        WARNING,
        "{names}: some numbers have more digits after the point than 'decimals' ({digits}); releases round them",
    ),
    "coarse bins": (
        WARNING,
        "{names}: {share:.0%} of the records are in one of its {bins} public bins, {fullest}: synthesizers draw "
        "evenly inside a bin, and attacks and utility compare bins; declare `cuts` where the values are",
    ),
    "hidden difference": (
        WARNING,
        "{names}: numbers differ inside the public bins, which utility does not see: mean {before:.4g} before and "
        "{after:.4g} after, distribution functions up to {distance:.0%} apart; declare finer `cuts`",
    ),
    "empty cells": (WARNING, "most cells say nothing in {these}: {empty}; {share:.0f} % of all cells"),
    "mostly empty": (WARNING, "{share:.0f} % of all cells are * and say nothing"),
}
"""Whether each kind is a note or a warning, and its words, with the names of its columns and numbers."""


class Note(NamedTuple):
    """Something that was inferred or is doubtful: a record, of which a writer makes a line.

    Parameters
    ----------
    kind : str
        What is said, a key of the table of words.
    columns : tuple of str
        Columns of which it is said.
    numbers : mapping of str
        Numbers and names in its words.

    Examples
    --------
    >>> note = Note("rounded", ("income",), {"digits": 2})
    >>> note.level, str(note)
    ('warning', "income: some numbers have more digits after the point than 'decimals' (2); releases round them")
    """

    kind: str
    columns: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = {}

    @property
    def level(self) -> str:
        """Whether it is a note or a warning."""
        return _SAID[self.kind][0]

    def __str__(self) -> str:
        """What is said, in one line."""
        return _SAID[self.kind][1].format(columns=self.columns, names=", ".join(self.columns), **self.numbers)


READ = _READ.keys()
"""Kinds of notes on how a table was read."""


def sentence(note: Note) -> str:
    """A note as a sentence of a report; a column's name keeps its first letter."""
    text = str(note)
    names_first = _SAID[note.kind][1].startswith("{")
    return f"{text if note.columns and names_first else text[0].upper() + text[1:]}."


def text_notes(texts: Iterable[str]) -> Iterator[Note]:
    """Notes whose words are given."""
    return (Note("text", numbers={"text": text}) for text in texts)


def of_file(path: object, notes: Iterable[Note]) -> list[Note]:
    """Notes on how one of several files was read, with its name."""
    return list(text_notes(f"{path}: {note}" for note in notes))


def grouped(notes: Iterable[Note]) -> list[Note]:
    """Notes, of which those that say the same of several columns are one."""
    groups: dict[str, list[Note]] = {}
    for note in notes:
        groups.setdefault(repr(note._replace(columns=())), []).append(note)
    return [of[0]._replace(columns=tuple(name for note in of for name in note.columns)) for of in groups.values()]
