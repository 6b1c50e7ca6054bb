"""Language of queries: ``mean income where job=clerk`` and the like, read into `defenses.base.queries`.

A query is a statistic, its columns, and conditions that a record must meet, all of them::

    STATISTIC [of] COLUMN [and COLUMN] [where CONDITION [and CONDITION ...]]

`PHRASES` lists the statistics. A condition is ``COLUMN=VALUE``, ``COLUMN=VALUE|VALUE``, ``COLUMN<NUMBER`` (also ``<=``,
``>``, ``>=``), or ``COLUMN between NUMBER and NUMBER`` with both ends. A name or value with a space or a mark, or that
is a word of the language, stands in quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from defenses.base.queries import Condition, Query
from metrics.columns import CategoricalDomain, Domain, NumericDomain, refuse
from scenarios.assessment.asking.phrases import PHRASES
from scenarios.tables.near_names import suggestion

STATISTICS = {phrase.split()[0]: name for name, phrase in PHRASES.items()}
_OF_ANY_DOMAIN = ("Mode", "Histogram", "ContingencyTable")
_OF_PUBLIC_SIZE = ("Variance", "Covariance", "Correlation")
_RESERVED = ("where", "and", "of", "between")
_COMPARISONS = ("=", "<", "<=", ">", ">=")
_TOKEN = re.compile(
    r"""(?P<quoted>'[^']*'|"[^"]*")|(?P<mark><=|>=|[=<>|,()!])|(?P<word>[^\s=<>|,()!'"]+)|(?P<broken>['"])"""
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class QueryTextError(ValueError):
    """A query cannot be read, or does not fit the table; the message names the word and its position."""


@dataclass(frozen=True)
class Schema:
    """What is public about a table's columns.

    - columns: Names of all columns.
    - domains: Declared domains.
    - identifiers: Columns about which nothing is answered.
    - declared_in: Name of the file that declares the domains, for messages.
    """

    columns: tuple[str, ...]
    domains: Mapping[str, Domain]
    identifiers: tuple[str, ...] = ()
    declared_in: str = "a roles file"


@dataclass(frozen=True)
class _Token:
    """A word, a mark or a quoted text of a query, and its position (from 1)."""

    text: str
    position: int
    kind: str

    def is_word(self, *words: str) -> bool:
        """Tell whether it is one of some words of the language."""
        return self.kind == "word" and self.text.lower() in words


def read_query(text: str, schema: Schema) -> Query:
    """Read a query in the language of this module.

    `QueryTextError` names the word and its position. It is raised if:

    - the text is no query, or names an unknown column or category;
    - a column's domain is not declared, or does not fit the statistic;
    - a variance, covariance or correlation is asked for under a condition.

    Examples
    --------
    >>> from metrics import CategoricalDomain, NumericDomain
    >>> domains = {"income": NumericDomain(0, 100_000), "job": CategoricalDomain(("clerk", "cook"))}
    >>> read_query("mean income where job=clerk", Schema(("income", "job"), domains))
    Mean(where=(Condition(column='job', values=('clerk',), interval=None),), members=None, column='income')
    >>> read_query("mean incme", Schema(("income", "job"), domains))
    Traceback (most recent call last):
    ...
    scenarios.assessment.asking.grammar.QueryTextError: query, character 6, 'incme': is no column; did you mean
    'income'?
    """
    return _Reader(text, schema).query()


class _Reader:
    """Recursive-descent reader of one query."""

    def __init__(self, text: str, schema: Schema) -> None:
        self.schema = schema
        self.tokens = _tokens(text)
        self.position = 0

    def query(self) -> Query:
        """Read the whole text."""
        token = self._next("a statistic, such as mean")
        name = STATISTICS.get(token.text.lower(), "") if token.kind == "word" else ""
        self._refuse(not name, f"is no statistic{suggestion(token.text, tuple(STATISTICS))}")
        arguments = self._arguments(name)
        self._refuse(
            name in _OF_PUBLIC_SIZE and self._taken("where"),
            f"the {STATISTICS_OF[name]} needs a public number of records, so it takes no condition",
        )
        return Query.kinds[name](*arguments, where=self._conditions())

    def _arguments(self, name: str) -> list[str | float | tuple[str, ...]]:
        """Columns and level of a statistic."""
        if name == "Count":
            return []
        level = [self._level()] if name == "Quantile" else []
        self._taken("of")
        columns = [self._subject(name)]
        wanted = PHRASES[name].count("COLUMN") if name != "ContingencyTable" else math.inf
        while len(columns) < wanted and self._taken("and"):
            columns.append(self._subject(name))
            self._refuse(columns[-1] in columns[:-1] and name == "ContingencyTable", "stands twice in one table")
        if name == "ContingencyTable":
            return [tuple(columns)]
        self._require(len(columns) >= wanted, f"'and' with another column for the {STATISTICS_OF[name]}")
        return [*columns, *level]

    def _conditions(self) -> tuple[Condition, ...]:
        """Conditions after ``where``; the text ends with them."""
        conditions: list[Condition] = []
        while self._taken("and" if conditions else "where"):
            conditions.append(self._condition())
        self._require(self.position == len(self.tokens), "'and' or the end" if conditions else "'where' or the end")
        return tuple(conditions)

    def _condition(self) -> Condition:
        """One condition."""
        column = self._column()
        domain = self.schema.domains[column]
        token = self._next(f"a comparison such as = after {column!r}")
        between = token.is_word("between")
        self._refuse(
            not between and (token.kind != "mark" or token.text not in _COMPARISONS),
            f"is no comparison; known are {', '.join((*_COMPARISONS, 'between'))}",
        )
        if token.text == "=":
            return Condition(column, values=self._values(column, domain))
        self._refuse(not isinstance(domain, NumericDomain), f"compares numbers, and {column!r} holds categories; use =")
        low, high = -math.inf, math.inf
        if between:
            low = self._number()
            self._require(self._taken("and"), "'and' between the two numbers")
            high = self._number()
            self._refuse(low > high, f"is below {low:g}; the smaller number comes first")
        elif token.text.startswith("<"):
            high = self._number()
            high = high if token.text == "<=" else math.nextafter(high, -math.inf)
        else:
            low = self._number()
            low = low if token.text == ">=" else math.nextafter(low, math.inf)
        return Condition(column, interval=(low, high))

    def _values(self, column: str, domain: Domain) -> tuple[str | float, ...]:
        """Values of an equality, separated by bars."""
        values = [self._value(column, domain)]
        while self.position < len(self.tokens) and self.tokens[self.position].text == "|":
            self.position += 1
            values.append(self._value(column, domain))
        return tuple(values)

    def _value(self, column: str, domain: Domain) -> str | float:
        if isinstance(domain, NumericDomain):
            return self._number()
        return self._name(f"category of {column!r}", domain.categories)

    def _number(self) -> float:
        token = self._next("a number")
        value = float(token.text) if token.kind == "word" and _NUMBER.fullmatch(token.text) else math.nan
        self._refuse(not math.isfinite(value), "is no number")
        return value

    def _level(self) -> float:
        level = self._number()
        self._refuse(not 0 <= level <= 1, "is no level; a quantile's level lies between 0 and 1")
        return level

    def _subject(self, name: str) -> str:
        """A column that a statistic is about."""
        column = self._column()
        self._refuse(
            name not in _OF_ANY_DOMAIN and isinstance(self.schema.domains[column], CategoricalDomain),
            f"holds categories; the {STATISTICS_OF[name]} needs numbers",
        )
        return column

    def _column(self) -> str:
        """The name of a column with a declared domain."""
        column = self._name("column", self.schema.columns)
        self._refuse(column in self.schema.identifiers, "is an identifier, about which nothing is answered")
        domain = self.schema.domains.get(column)
        self._refuse(
            domain is None or domain.inferred,
            f"has no public domain: declare its bounds (low and high) or its categories in {self.schema.declared_in}",
        )
        return column

    def _name(self, kind: str, known: tuple[str, ...]) -> str:
        """One of the known names, which is quoted if it is a word of the language."""
        token = self._next(f"a {kind}")
        self._refuse(
            token.kind == "mark" or token.is_word(*_RESERVED),
            f"stands where a {kind} is expected; quote it if it is one",
        )
        near = "" if token.text in known else suggestion(token.text, known)
        self._refuse(token.text not in known, f"is no {kind}{near}")
        return token.text

    def _taken(self, word: str) -> bool:
        """Read the next token if it is this word of the language, and tell whether it is."""
        taken = self.position < len(self.tokens) and self.tokens[self.position].is_word(word)
        self.position += taken
        return taken

    def _next(self, expected: str) -> _Token:
        """The next token, which is then read."""
        refuse(self.position == len(self.tokens), f"query, at its end: {expected} is missing", QueryTextError)
        self.position += 1
        return self.tokens[self.position - 1]

    def _refuse(self, wrong: object, why: str) -> None:
        """Raise QueryTextError about the token that was read last if something is wrong with it."""
        token = self.tokens[self.position - 1]
        refuse(wrong, f"query, character {token.position}, {token.text!r}: {why}", QueryTextError)

    def _require(self, met: object, expected: str) -> None:
        """Raise QueryTextError about the next token, or about the end, unless the condition is met."""
        if not met:
            self._next(expected)
            self._refuse(True, f"stands where {expected} is expected")


STATISTICS_OF = {name: statistic for statistic, name in STATISTICS.items()}
"""Word of the language for each class of queries."""


def _tokens(text: str) -> list[_Token]:
    """Words, marks and quoted texts of a query."""
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, position = str(match.lastgroup), match.start() + 1
        content = match.group()
        refuse(kind == "broken", f"query, character {position}, {content}: this quote is not closed", QueryTextError)
        tokens.append(_Token(content[1:-1] if kind == "quoted" else content, position, kind))
    return tokens
