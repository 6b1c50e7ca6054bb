"""Numbers as text, in one form on every page, terminal and chart."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Where a line may break inside a name that is longer than it.

_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=,)(?=.)|(?<=[_=:])(?=\w{6})")


def name_parts(name: str) -> list[str]:
    """Parts of a name, between which a line may break: at capitals, commas, and signs before six letters.

    Examples
    --------
    >>> name_parts("HadamardResponse of age")
    ['Hadamard', 'Response of age']
    >>> name_parts("protocol=UnaryEncoding k=5")
    ['protocol=', 'Unary', 'Encoding k=5']
    """
    return _BREAK.split(name)


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed decimals, without a zero before the point; a dash if it is missing.

    Examples
    --------
    >>> [number(value) for value in (0.423, 1, -0.03, 1234.5, None)]
    ['.42', '1.00', '-.03', '1,234.50', '–']
    """
    return "–" if value is None else _bare(f"{value:,.{digits}f}")


def exact(value: float) -> str:
    """A number with as many decimals as it needs, such as the tick of an axis or a bound.

    Examples
    --------
    >>> [exact(value) for value in (0.09, 0.5, 2.0, 512_000, 1e-06)]
    ['.09', '.5', '2', '512,000', '1e-06']
    """
    return _bare(f"{value:,.12g}")


def measure(value: float | None) -> str:
    """A measure that may be a count: an integer as it is, a fraction with three decimals.

    Examples
    --------
    >>> [measure(value) for value in (5.0, 0.76421, 1499)]
    ['5', '.764', '1,499']
    """
    return exact(value) if value is not None and value == int(value) else number(value, 3)


def with_share(count: int, total: int) -> str:
    """A count with its share of a total.

    Examples
    --------
    >>> with_share(1200, 4800)
    '1,200 (25.0%)'
    """
    return f"{count:,} ({count / max(1, total):.1%})"


def counted(count: int | str, what: str) -> str:
    """A number, or a range of numbers as text, with its noun: in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "complete play"), counted("17 to 20", "complete play"), counted(1499, "row")
    ('1 complete play', '17 to 20 complete plays', '1,499 rows')
    """
    text = count if isinstance(count, str) else f"{count:,}"
    return f"{text} {what}" if text == "1" else f"{text} {what}s"


def range_text(counts: Iterable[int]) -> str:
    """Smallest and largest of some counts, or the only one.

    Examples
    --------
    >>> range_text([20, 17, 20]), range_text([20, 20])
    ('17 to 20', '20')
    """
    ends = sorted(set(counts))
    return f"{ends[0]}" if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"


def _bare(text: str) -> str:
    """Text of a number without a zero before the point, and without the sign of a zero."""
    if not text.strip("-0.,"):
        text = text.removeprefix("-")
    return re.sub(r"^(-?)0\.", r"\1.", text)
