"""What the guarantees on a board cover: one row for each statement, with the defenses that it holds for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from leaderboard.pages import Table
from leaderboard.results import ROLES, StatedGuarantee, canonical, grouped_by, label

TITLE = "What the guarantees cover"
COLUMNS = ("guarantee", "what it covers, or why there is none", "defenses")
NONE = "none"
NO_GUARANTEE = "the method gives no guarantee"
FEW = 3
"""Columns from which on a list of all quasi-identifiers is shown by their number."""
LONGEST = 90
"""Characters of the parameters that name a family's settings; longer ones are counted instead."""
_SYMBOLS = ("k", "l", "t", "ε", "δ", "Pk", NONE)
_ROLE_WORDS = {
    "quasi_identifiers": "Quasi-identifiers",
    "sensitive": "Sensitive",
    "unprotected": "Unprotected",
    "identifiers": "Identifiers, in no release",
    "left_out": "Without a role, in no release",
}
# A number that stands alone or begins a word such as 5-anonymity.
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]\w)(?!\w)")
_DEFAULT = "null"
_LETTERS = {"-anonymity": "k", "-diversity": "l", "-closeness": "t"}


def guarantee_tables(guarantees: Sequence[StatedGuarantee]) -> dict[str, list[Table]]:
    """Tables of what guarantees cover, by scenario; none for a scenario whose defenses say nothing.

    Settings share a row if their statements differ in numbers only. A list of all quasi-identifiers, or of all released
    columns, is shown by its length if it is long. The note below the table names the columns by role.

    Parameters
    ----------
    guarantees : sequence of StatedGuarantee
        Guarantees of the settings on a board, in any order.

    Returns
    -------
    dict of str to list of Table
        One table for each scenario. If its results are of several roles files, there is one table for each.

    Examples
    --------
    >>> from leaderboard.results.guarantees import StatedGuarantee
    >>> roles = {"quasi_identifiers": ("age", "city", "job"), "left_out": ("note",)}
    >>> guarantees = [
    ...     StatedGuarantee(
    ...         scenario="mine",
    ...         defense="Mondrian",
    ...         parameters={"k": k},
    ...         guarantee=f"k={k}",
    ...         statement=f"{k}-anonymity over age, city, job",
    ...         roles=roles,
    ...     )
    ...     for k in (2, 5)
    ... ]
    >>> [table] = guarantee_tables(guarantees)["mine"]
    >>> table.rows
    [('k', 'k-anonymity over the 3 quasi-identifiers', 'Mondrian')]
    >>> table.note
    'Quasi-identifiers: age, city, job. Without a role, in no release: note.'
    """
    by_scenario = grouped_by(sorted(guarantees, key=lambda one: one.setting), lambda one: one.scenario)
    return {
        scenario: [_table(group) for _, group in sorted(grouped_by(own, _columns_by_role).items())]
        for scenario, own in by_scenario.items()
        if any(guarantee.statement for guarantee in own)
    }


def _columns_by_role(guarantee: StatedGuarantee) -> str:
    return canonical([guarantee.released, dict(guarantee.roles)])


def _table(guarantees: Sequence[StatedGuarantee]) -> Table:
    """Table of the guarantees of one scenario with the same roles."""
    first = guarantees[0]
    protected = {number for name in _all_columns(first) for number in _NUMBER.findall(name)}

    def likeness(one: StatedGuarantee) -> tuple[bool, str]:
        wording = _NUMBER.sub(lambda match: match[0] if match[0] in protected else "\0", _text(one))
        return not _symbols(one), wording

    groups = grouped_by(guarantees, likeness)
    of_family: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for key, group in groups.items():
        for family in dict.fromkeys(one.defense for one in group):
            of_family[family].append(key)
    rows: list[tuple[str, str, str]] = []
    for key, group in groups.items():
        names = [
            _names(
                [one for one in group if one.defense == family],
                [one for other in keys if other != key for one in groups[other] if one.defense == family],
            )
            for family, keys in of_family.items()
            if key in keys
        ]
        rows.append((_guarantee(group), _merged([_text(one) for one in group], protected), ", ".join(names)))
    rows.sort(key=_order)
    roles = (
        f"{words}: {', '.join(first.roles[role])}." for role, words in _ROLE_WORDS.items() if first.roles.get(role)
    )
    return Table(TITLE, COLUMNS, rows, note=" ".join(roles))


def _text(guarantee: StatedGuarantee) -> str:
    """Statement of a guarantee, in which long lists of columns are numbers."""
    if not guarantee.statement:
        return "the defense does not say" if _symbols(guarantee) else NO_GUARANTEE
    text = guarantee.statement.removeprefix("none: ")
    lists = [
        (guarantee.released, "released columns"),
        (guarantee.roles.get("quasi_identifiers", ()), "quasi-identifiers"),
    ]
    # The longer list first, since it may begin with the other one; of equal lists, the quasi-identifiers.
    for columns, what in sorted(lists, key=lambda entry: (-len(entry[0]), entry[1])):
        if len(columns) >= FEW and _unmistakable(columns, _all_columns(guarantee)):
            joined = ", ".join(columns)
            words = f"the {len(columns)} {what}"
            text = text.replace(f"the columns {joined}", words).replace(joined, words)
    return text


def _unmistakable(columns: Sequence[str], everything: Collection[str]) -> bool:
    """Whether the columns' joined names can only mean these columns in a list of columns."""
    others = set(everything) - set(columns)
    return not any("," in name for name in everything) and not any(
        other.startswith(columns[-1]) or other.endswith(columns[0]) for other in others
    )


def _all_columns(guarantee: StatedGuarantee) -> list[str]:
    return [*guarantee.released, *(name for role in ROLES for name in guarantee.roles.get(role, ()))]


def _symbols(stated: StatedGuarantee) -> list[str]:
    """Symbols of what is guaranteed; empty if nothing is."""
    text = "" if stated.guarantee == NONE else stated.guarantee
    return [part.partition("=")[0] for part in text.split(", ") if part]


def _guarantee(group: Sequence[StatedGuarantee]) -> str:
    """The guarantee that all settings of a group share, or its symbols."""
    texts = {stated.guarantee or NONE for stated in group}
    if len(texts) == 1:
        return texts.pop()
    symbols = {symbol for guarantee in group for symbol in _symbols(guarantee)}
    return ", ".join(sorted(symbols, key=_place))


def _merged(texts: Sequence[str], protected: Collection[str]) -> str:
    """Texts that differ in numbers only as one text: with the letter of the criterion, or the numbers' range."""
    numbers = [[number for number in _NUMBER.findall(text) if number not in protected] for text in texts]
    positions = iter(zip(*numbers, strict=True))

    def merged(match: re.Match[str]) -> str:
        if match[0] in protected:
            return match[0]
        values: list[str] = sorted(set(next(positions)), key=float)
        if len(values) == 1:
            return values[0]
        rest = texts[0][match.end() :]
        letters = (letter for word, letter in _LETTERS.items() if rest.startswith(word))
        return next(letters, f"{values[0]} to {values[-1]}")

    return _NUMBER.sub(merged, texts[0])


def _names(own: Sequence[StatedGuarantee], others: Sequence[StatedGuarantee]) -> str:
    """Name of a family, with a parameter that tells its settings of this row from those of other rows."""
    family = own[0].defense
    if not others:
        return family
    names = {name for guarantee in (*own, *others) for name in guarantee.parameters}
    telling = [name for name in names if not _values(own, name) & _values(others, name)]
    # One such parameter suffices: one that all these settings name, and with few values.
    best = (
        sorted(telling, key=lambda name: (_DEFAULT in _values(own, name), len(_values(own, name)), name))[:1] or names
    )
    parameters = [{name: value for name, value in one.parameters.items() if name in best} for one in own]
    labels = list(dict.fromkeys(label("", given).strip() for given in parameters))
    words = " or ".join(labels)
    # Settings that leave such a parameter at its default have no label.
    if not all(labels) or len(words) > LONGEST:
        return f"{family} ({len(own)} of {len(own) + len(others)} settings)"
    return f"{family} {words}"


def _values(guarantees: Sequence[StatedGuarantee], parameter: str) -> set[str]:
    return {canonical(guarantee.parameters.get(parameter)) for guarantee in guarantees}


def _order(row: tuple[str, str, str]) -> tuple[int, bool, str, str]:
    """Guarantees by their first symbol, then those who guarantee nothing, and last those who do not say why."""
    guarantee, text, names = row
    return _place(guarantee.partition("=")[0].partition(",")[0]), text == NO_GUARANTEE, text, names


def _place(symbol: str) -> int:
    return _SYMBOLS.index(symbol) if symbol in _SYMBOLS else len(_SYMBOLS)
