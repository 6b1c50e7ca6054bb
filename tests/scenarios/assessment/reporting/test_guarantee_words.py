"""Guarantees in plain words."""

from defenses import Guarantee
from scenarios.assessment.reporting.findings import THRESHOLDS, threshold_words
from scenarios.assessment.reporting.release_report import guarantee_words
from scenarios.tables.review.rows_of_people import RowsOfPeople


def test_every_part_has_a_sentence():
    words = guarantee_words(Guarantee(k=5, l=2, t=0.2, epsilon=1.0, delta=1e-6, pk=3.0, statement="over age"))
    starts = ["k = 5", "l = 2", "t = 0.2", "epsilon = 1", "Pk = 3", "It refers to: over age."]
    assert [sentence.startswith(start) for sentence, start in zip(words, starts, strict=True)] == [True] * 6
    assert "a factor of at most 2.72, but for an event of probability 1e-06." in words[3]


def test_a_huge_epsilon_is_no_protection():
    for epsilon in (7.1, 20.0, 1e6):
        [words] = guarantee_words(Guarantee(epsilon=epsilon))
        assert words.endswith("by nearly any factor. This guarantee alone protects nobody; the measurements decide.")
    assert guarantee_words(Guarantee(epsilon=7.0)) == [
        "epsilon = 7: the release changes the odds of any belief about a person by a factor of at most 1.1e+03."
    ]


def test_nothing_is_said_plainly():
    assert guarantee_words(Guarantee()) == ["The method guarantees nothing; the report rests on measurements alone."]
    # Pk = 1 allows a posterior of 1.
    assert guarantee_words(Guarantee(pk=1.0)) == guarantee_words(Guarantee())


def test_usual_thresholds_are_named():
    assert threshold_words(0.09) == ".09 (clinical reports that are published; classes of 11 people)"
    assert threshold_words(0.123) == ".123"
    assert [round(1 / one.value) for one in THRESHOLDS] == [one.classes for one in THRESHOLDS]


def test_guarantees_of_rows_are_no_guarantees_of_people():
    rows = RowsOfPeople("id", 5200, 3011, 6)
    words = guarantee_words(Guarantee(k=5, epsilon=1.0), rows)
    assert words == [
        "k = 5: by the quasi-identifiers alone, each row looks like at least 4 other rows.",
        "There are 5,200 rows of 3,011 people, up to 6 rows a person, so a class may hold fewer than 5 people.",
        "epsilon = 1: the release changes the odds of any belief about a row by a factor of at most 2.72.",
        "A person has up to 6 rows, so epsilon is 6 for a person, and odds change by a factor of at most 403.",
    ]
