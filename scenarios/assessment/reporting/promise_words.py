"""What a guarantee means for a person, in plain words."""

from __future__ import annotations

from math import exp

from defenses.base.guarantee import Guarantee
from scenarios.tables.review.rows_of_people import MOST_NAMED, RowsOfPeople, epsilon_of_a_person


def promise_words(promised: Guarantee, rows: RowsOfPeople | None = None) -> list[str]:
    """One sentence for each part of a guarantee.

    Parameters
    ----------
    promised : Guarantee
        The guarantee, which counts rows.
    rows : RowsOfPeople, optional
        Numbers of rows and people, if a person has several rows.

    Examples
    --------
    >>> promise_words(Guarantee(k=5, statement="5-anonymity over age, job"))[0]
    'k = 5: by the quasi-identifiers alone, everybody looks like at least 4 others.'
    """
    words = []
    if promised.k is not None:
        who, others = ("everybody", "others") if rows is None else ("each row", "other rows")
        words.append(
            f"k = {promised.k}: by the quasi-identifiers alone, {who} looks like at least {promised.k - 1} {others}."
        )
        if rows is not None:
            words.append(f"There are {rows.words}, so a class may hold fewer than {promised.k} people.")
    if promised.l is not None:
        words.append(f"l = {promised.l:g}: every class holds several sensitive values ({promised.statement}).")
    if promised.t is not None:
        words.append(f"t = {promised.t:g}: sensitive values of a class are distributed nearly as in the whole table.")
    if promised.epsilon is not None:
        rare = f", but for an event of probability {promised.delta:g}" if promised.delta else ""
        weak = promised.epsilon > MOST_NAMED
        allows = "nearly any factor" if weak else f"a factor of at most {exp(promised.epsilon):.3g}"
        alone = " This promise alone protects nobody; the measurements decide." if weak else ""
        about = "person" if rows is None else "row"
        words.append(
            f"epsilon = {promised.epsilon:.3g}: the release changes the odds of any belief about a {about} by {allows}"
            f"{rare}.{alone}"
        )
        if rows is not None:
            of_person = epsilon_of_a_person(promised.epsilon, promised.delta, rows.most)
            words.append(f"{of_person[0].upper()}{of_person[1:]}.")
    if promised.pk is not None and promised.pk > 1:
        words.append(f"Pk = {promised.pk:.3g}: nobody can be surer than 1/{promised.pk:.3g} that a row is a person's.")
    if promised.statement:
        words.append(f"It refers to: {promised.statement}.")
    return words or ["The method promises nothing; the report rests on measurements alone."]
