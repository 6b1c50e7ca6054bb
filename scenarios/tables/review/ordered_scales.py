"""Order of categories whose words are the steps of a scale, such as never, sometimes and always."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from metrics.columns import CategoricalDomain, Domain

Words = frozenset[str]


class Scales(NamedTuple):
    """Words of scales; the file of them says what each is."""

    lists: Sequence[Sequence[Words]]
    poles: Sequence[tuple[Words, Words]]
    middle: Words
    gaps: Words
    degrees: Mapping[str, float]


@cache
def scales() -> Scales:
    """Words of scales, read once."""
    content = tomllib.loads(Path(__file__).with_name("scales.toml").read_text(encoding="utf-8"))
    lists = [[_spellings(step) for step in steps] for steps in content["lists"]]
    poles = [(_spellings(low), _spellings(high)) for low, high in content["poles"]]
    return Scales(lists, poles, frozenset(content["middle"]), frozenset(content["gaps"]), content["degrees"])


def _spellings(words: str) -> Words:
    return frozenset(words.split(", ")) - {""}


MOST_STEPS = 100
"""Largest number of steps of a scale, such as ages by ten years."""
_PREFIXES = frozenset((
    "★", "☆", "星", "q", "g", "t", "asa", "nyha", "quarter", "level", "grade", "stage", "tier", "step", "phase",
    "quartile", "quintile", "decile", "isced", "isced level", "year",
    "第", "レベル", "ステージ", "グレード", "等級", "ランク", "要介護", "要支援",
))  # fmt: skip
"""Words before a number that orders what they name; other words, such as ward, only number it."""
_BELOW = frozenset(("<", "<=", "≤", "under", "below", "less than", "up to", "at most", "unter", "bis"))
_ABOVE = frozenset((">", ">=", "≥", "over", "above", "more than", "from", "at least", "ab", "über"))
_BELOW_AFTER = frozenset(("未満", "以下", "and under", "and below", "and younger", "or less", "or younger", "or under"))
_ABOVE_AFTER = frozenset((
    "+", "以上", "超", "～", "〜", "and over", "and older", "or older", "or more", "and more", "and above", "or over",
    "plus", "und älter", "und mehr", "-", "歳以上", "才以上",
))  # fmt: skip
_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?P<before>[^\d]*?) *(?P<low>{_NUMBER}) *(?:(?P<to>-|to|bis|and|or|,)? *(?P<high>{_NUMBER}))? *(?P<after>\D*)"
)
_NONE = re.compile(r"none|no( [^\W\d]+)?|なし|無し")
_PERIOD = re.compile(r"(\d{4})[ -]?(?:q([1-4])|(0[1-9]|1[0-2]))")
"""A quarter or month of a year, such as 2024Q1 or 2024-03."""
_DASHES = re.compile("[‐‑‒–—―−〜～]")


def with_scale_order(domain: Domain) -> Domain:
    """The domain with its categories in the order of a scale, if all are steps of one.

    Examples
    --------
    >>> with_scale_order(CategoricalDomain(("always", "never", "sometimes"), inferred=True)).categories
    ('never', 'sometimes', 'always')
    """
    if not isinstance(domain, CategoricalDomain) or domain.ordered or not domain.inferred:
        return domain
    places = scale_places(domain.categories)
    if places is None:
        return domain
    ranked = sorted(zip(places, domain.categories, strict=True))
    return replace(domain, categories=tuple(category for _, category in ranked), ordered=True)


def gaps_in_scale(categories: Sequence[str]) -> list[str]:
    """Categories that are no answer, such as don't know, if only they keep all from being a scale."""
    if len(categories) > MOST_STEPS:
        return []
    gaps = [category for category in categories if _plain(category) in scales().gaps]
    steps = [category for category in categories if category not in gaps]
    return gaps if gaps and scale_places(categories) is None and scale_places(steps) is not None else []


def scale_places(categories: Sequence[str]) -> list[float] | None:
    """Place of each of at least three categories on a scale; None if not all are on one, or two share a place."""
    if not 3 <= len(categories) <= MOST_STEPS:
        return None
    texts = [_plain(category) for category in categories]
    numbered = [re.fullmatch(r"\d{1,2}[ .:=)-]+([^\W\d].*)", text) for text in texts]
    alone = [_plain(match[1]) for match in numbered if match]
    # A number before each word may number the words, or count what they name.
    for places in chain(_attempts(alone) if len(alone) == len(texts) else (), _attempts(texts)):
        if None not in places and len({*places}) == len(places):
            return [place for place in places if place is not None]
    return None


def _plain(text: str) -> str:
    """A text in lower case with single spaces, also in the place of dashes and points if it holds no number."""
    text = _DASHES.sub("-", " ".join(text.casefold().replace("_", " ").replace("’", "'").split()))
    return text if re.search(r"\d", text) else _spaced(text)


def _spaced(text: str) -> str:
    return re.sub(r" *[-/.] *", " ", text).strip()


def _attempts(texts: Sequence[str]) -> Iterator[list[float | None]]:
    """Places of texts on each scale that may hold them."""
    yield _range_places(texts)
    labelled = [re.fullmatch(r"(\d{1,2})( ?\(.*\))?", text) for text in texts]
    # Of a scale such as 1 (never) to 5 (always), the ends may be the only steps with words.
    if any(match and match[2] for match in labelled):
        yield [float(match[1]) if match else None for match in labelled]
    for words in ([_spaced(text) for text in texts], _without_common_words(texts)):
        for steps in scales().lists:
            yield [next((place for place, step in enumerate(steps) if text in step), None) for text in words]
    for low, high in scales().poles:
        yield [_degree(text, low, high) for text in texts]


def _without_common_words(texts: Sequence[str]) -> list[str]:
    """Texts without words that all share: the last ones, such as risk in low risk, or a first one such as stage."""
    words = [text.split(" ") for text in texts]
    while all(len(one) > 1 for one in words) and len({one[-1] for one in words}) == 1:
        words = [one[:-1] for one in words]
    if all(len(one) > 1 and one[0] in _PREFIXES for one in words) and len({one[0] for one in words}) == 1:
        words = [one[1:] for one in words]
    return [" ".join(one) for one in words]


def _degree(text: str, low: Words, high: Words) -> float | None:
    """Distance of a text from the middle between two words; None if it holds neither, or unknown words."""
    degrees = scales().degrees
    if text in scales().middle or re.fullmatch(r"neither .* nor .*", text):
        return 0
    if text in degrees and not low:
        return degrees[text]
    for pole, sign in ((low, -1), (high, 1)):
        for word in sorted(pole, key=len, reverse=True):
            rest = _around(text, word)
            if rest is not None and rest in degrees:
                return sign * degrees[rest]
    return None


def _around(text: str, word: str) -> str | None:
    """What stands before or after a word; Japanese words need no space between them."""
    if not word.isascii() and text.endswith(word):
        return text.removesuffix(word).strip(" 、")
    if text == word:
        return ""
    before, after = text.removesuffix(f" {word}"), text.removeprefix(f"{word} ")
    return before if before != text else after if after != text else None


def _range_places(texts: Iterable[str]) -> list[float | None]:
    """Places of ranges of numbers that do not overlap, or of numbered steps such as Q1."""
    ranges = [_range(text) for text in texts]
    known = sorted(one for one in ranges if one is not None)
    kinds = {kind for *_, kind in known}
    apart = all(before[1] <= after[0] for before, after in pairwise(known))
    named = kinds - {""}
    alike = (named and kinds == named) or any(low < high for low, high, _ in known)
    return [one[0] if one and apart and alike and len(named) <= 1 else None for one in ranges]


def _range(text: str) -> tuple[float, float, str] | None:
    """Ends of a range, and the word before or the unit behind its number; None if it is none."""
    if re.fullmatch("[★☆⭐]+", text):
        stars = float(text.count("★") + text.count("⭐"))
        return stars, stars, "star"
    if _NONE.fullmatch(text):
        return 0, 0, ""
    if period := _PERIOD.fullmatch(text):
        position = float(period[1]) + float(period[2] or period[3]) / 100
        return position, position, "period"
    match = _RANGE.fullmatch(
        re.sub(
            r"(?<=\d),(?=\d{3}\b)|[$€£¥%]|(?<=\d)(?:k|万円|円|歳|才|年)(?= *(?:-|以上|以下|未満|超))", "", text
        ).strip("[]() ")
    )
    if match is None:
        return None
    before, after = match["before"].strip(), match["after"].strip()
    low = float(match["low"])
    unit = re.sub(r"^(歳|才|years?( old)?|yrs?|kg|cm|万円|円|人|代|つ|k\b) *", "", after)
    if match["high"] is not None:
        return (low, float(match["high"]), "") if match["to"] and not before else None
    if before in _BELOW or unit in _BELOW_AFTER:
        return (float("-inf"), low, "") if before in _BELOW or not before else None
    above = any(unit == words or unit.startswith(f"{words} ") for words in _ABOVE_AFTER)
    if before in _ABOVE or (above and not before):
        return low, 1e300, ""
    if before in _PREFIXES and not unit:
        return low, low, before
    if not before and (after in ("月", "代", "年生", "年", "級", "歳", "才") or after in ("st", "nd", "rd", "th")):
        return low, low, "th" if after in ("st", "nd", "rd", "th") else after
    # What is counted, as in 1 star and 2 stars.
    return (low, low, re.sub("(ren|s)$", "", after)) if not before and " " not in after else None
