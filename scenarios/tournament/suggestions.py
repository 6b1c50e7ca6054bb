"""Suggestions for cells that break a rule: what the team probably meant, as a cell that would be accepted."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from metrics.cells import SUPPRESSED, interval_cell, set_cell
from metrics.domains import CategoricalDomain, Domain, NumericDomain, format_number
from scenarios.tournament.canonical_cells import canonical_cell

LONGEST = 100
"""Largest length of a cell for which something is suggested."""
MOST_DIGITS = 15
"""Largest power of ten of a number that is rounded or moved into the public range."""
_UNKNOWN = {"", "?", "-", "na", "n/a", "nan", "none", "null", "any", "all", "unknown", "missing", "不明"}
_PART = r"([+-]?\d{1,15}(?:\.\d{1,15})?)"
_DASH = r"(?:-|‐|–|—|−|ー|~|〜|\.\.+|…|:|;|,|to|bis|から)"
_RANGE = re.compile(rf"[\[(]?\s*{_PART}\s*{_DASH}\s*{_PART}(?:まで)?\s*[\])]?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}")
_OR_MORE = r"(?:\+|or more|and over|以上|から|~|〜)"
_AT_LEAST = re.compile(rf"(?:>=|≥|=>|from|over)\s*{_PART}|{_PART}\s*{_OR_MORE}", re.IGNORECASE)
_AT_MOST = re.compile(rf"(?:<=|≤|=<|up to|[~〜])\s*{_PART}|{_PART}\s*(?:or less|and under|以下|まで)", re.IGNORECASE)
_BELOW = re.compile(rf"<\s*{_PART}|{_PART}\s*未満")
_DECADE = re.compile(r"(\d*0)(?:s|代)")
_UNIT = re.compile(r"(?<=\d)\s*(?:歳|才|円|回|日|秒|人|件)")
_BETWEEN = re.compile(r"\s*(?:[|,;/、・]|または)\s*|\s+or\s+")


def suggested_cell(text: str, domain: Domain, decimals: int, *, may_miss: bool) -> str | None:
    """A valid cell that a wrong one probably stands for; None without an idea.

    Parameters
    ----------
    text : str
        The wrong cell.
    domain : Domain
        Domain of its column.
    decimals : int
        Largest number of decimals.
    may_miss : bool
        Whether a cell may be empty.
    """
    if len(text) > LONGEST:
        return None
    plain = unicodedata.normalize("NFKC", text).strip().removeprefix("=").strip('"').strip()
    ideas = _numeric(plain, domain, decimals) if isinstance(domain, NumericDomain) else _categorical(plain, domain)
    for idea in (plain, *ideas):
        try:
            canonical_cell(idea, domain, decimals, may_miss=may_miss)
        except ValueError:
            continue
        return idea
    return SUPPRESSED if plain.casefold() in _UNKNOWN else None


def _numeric(text: str, domain: NumericDomain, decimals: int) -> Iterator[str]:
    """Ideas for a cell of numbers, the likeliest first."""
    low, high = format_number(domain.low), format_number(domain.high)
    text = _UNIT.sub("", text)
    if decimals and _DECIMAL_COMMA.fullmatch(text):
        yield text.replace(",", ".")
    if match := _RANGE.fullmatch(text):
        first, last = sorted(match.groups(), key=Decimal)
        yield f"[{first},{last}]"
        ends = [_rounded(_clipped(end, domain), decimals) for end in (first, last)]
        yield f"[{ends[0]},{ends[1]}]"
    if match := _AT_LEAST.fullmatch(text):
        yield f"[{match[1] or match[2]},{high}]"
    if match := _AT_MOST.fullmatch(text):
        yield f"[{low},{match[1] or match[2]}]"
    if match := _BELOW.fullmatch(text):
        yield f"[{low},{match[1] or match[2]})"
    if match := _DECADE.fullmatch(text):
        yield interval_cell(int(match[1]), int(match[1]) + 9)
    if "|" in text and not text.startswith("{"):
        yield "{" + text + "}"
    # A decimal comma or a separator of thousands.
    for number in (text, text.replace(",", "."), text.replace(",", "").replace(" ", "").replace("'", "")):
        try:
            value = Decimal(number)
        except InvalidOperation:
            continue
        if value.is_finite() and abs(value.adjusted()) <= MOST_DIGITS:
            yield _rounded(number, decimals)
            yield _rounded(_clipped(number, domain), decimals)


def _clipped(number: str, domain: NumericDomain) -> str:
    """The nearest number of the public range."""
    low, high = Decimal(format_number(domain.low)), Decimal(format_number(domain.high))
    return f"{min(max(Decimal(number), low), high):f}"


def _rounded(number: str, decimals: int) -> str:
    """A number with at most so many decimals, in decimal notation."""
    value = Decimal(number)
    return f"{round(value, decimals).normalize():f}" if decimals else f"{value.to_integral_value():f}"


def _categorical(text: str, domain: CategoricalDomain) -> Iterator[str]:
    """Ideas for a cell of categories, the likeliest first."""
    folded = {category.casefold(): category for category in reversed(domain.categories)}

    def meant(part: str) -> str | None:
        name = part.strip().casefold()
        if name in folded:
            return folded[name]
        close = difflib.get_close_matches(name, folded, n=1, cutoff=0.75)
        return folded[close[0]] if close else None

    if (one := meant(text)) is not None:
        yield set_cell([one])
    parts = [part for part in _BETWEEN.split(text.strip("{}[]()")) if part]
    several = [meant(part) for part in parts]
    if len(parts) > 1 and all(several):
        yield set_cell(dict.fromkeys(category for category in several if category))


def suggested_name(name: str, names: list[str]) -> str | None:
    """The column whose name is most like a wrong one; None if none is."""
    folded = {one.casefold().replace(" ", "_"): one for one in names}
    close = difflib.get_close_matches(name[:LONGEST].strip().casefold().replace(" ", "_"), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None
