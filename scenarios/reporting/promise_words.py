"""What a guarantee means for a person, in plain words."""

from __future__ import annotations

from math import exp

from defenses.base.guarantee import Guarantee

WEAK = 7.0
"""Largest epsilon whose factor of odds is named: it is about 1,100."""


def promise_words(promised: Guarantee) -> list[str]:
    """One sentence for each part of a guarantee.

    Examples
    --------
    >>> promise_words(Guarantee(k=5, statement="5-anonymity over age, job"))[0]
    'k = 5: by the quasi-identifiers alone, everybody looks like at least 4 others.'
    """
    words = []
    if promised.k is not None:
        words.append(
            f"k = {promised.k}: by the quasi-identifiers alone, everybody looks like at least {promised.k - 1} others."
        )
    if promised.l is not None:
        words.append(f"l = {promised.l:g}: every class holds several sensitive values ({promised.statement}).")
    if promised.t is not None:
        words.append(f"t = {promised.t:g}: sensitive values of a class are distributed nearly as in the whole table.")
    if promised.epsilon is not None:
        rare = f", but for an event of probability {promised.delta:g}" if promised.delta else ""
        allows = f"a factor of at most {exp(promised.epsilon):.3g}" if promised.epsilon <= WEAK else "nearly any factor"
        alone = "" if promised.epsilon <= WEAK else " This promise alone protects nobody; the measurements decide."
        words.append(
            f"epsilon = {promised.epsilon:.3g}: the release changes the odds of any belief about a person by {allows}"
            f"{rare}.{alone}"
        )
    if promised.pk is not None and promised.pk > 1:
        words.append(f"Pk = {promised.pk:.3g}: nobody can be surer than 1/{promised.pk:.3g} that a row is a person's.")
    if promised.statement:
        words.append(f"It refers to: {promised.statement}.")
    return words or ["The method promises nothing; the report rests on measurements alone."]
