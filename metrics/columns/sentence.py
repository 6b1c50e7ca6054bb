"""Sentence that keeps the pattern and the values of which it is made, so that others can word it differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Sentence(str):
    """A sentence in English that knows its pattern and its values, by which a page says the same in another language.

    Parameters
    ----------
    pattern : str
        The sentence with a field in braces for each value, as `str.format` reads it.
    **values
        The values; they may be sentences themselves.

    Examples
    --------
    >>> said = Sentence("{count} of {rows} rows", count=99, rows=100)
    >>> said, said.pattern, said.values["count"]
    ('99 of 100 rows', '{count} of {rows} rows', 99)
    """

    pattern: str
    values: dict[str, Any]

    def __new__(cls, pattern: str, /, **values: Any) -> Sentence:
        """Make the sentence."""
        made = super().__new__(cls, pattern.format(**values))
        made.pattern, made.values = pattern, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """What a copy in another process is made of."""
        return (self.pattern,), self.values

    def __str__(self) -> str:
        """The sentence itself, so that messages of exceptions stay sentences."""
        return self

    def plain(self) -> list[Any]:
        """Pattern and values for JSON; `read` makes the sentence of them again."""
        return [
            self.pattern,
            {name: one.plain() if isinstance(one, Sentence) else one for name, one in self.values.items()},
        ]

    @classmethod
    def read(cls, plain: Sequence[Any]) -> Sentence:
        """The sentence of a pattern and values that `plain` gave."""
        pattern, values = plain
        return cls(pattern, **{name: cls.read(one) if isinstance(one, list) else one for name, one in values.items()})

    @classmethod
    def joined(cls, separator: str, parts: Sequence[str]) -> Sentence:
        """Sentences behind each other; the separator has words of its own in each language."""
        named = {f"part{number}": part for number, part in enumerate(parts)}
        return cls("{separator}".join(f"{{{name}}}" for name in named), separator=cls(separator), **named)
