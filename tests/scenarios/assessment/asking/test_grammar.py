"""The language of queries: what it reads, and errors that point at the word."""

import math

import pytest

from defenses.base.queries import (
    Condition,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from defenses.curators.planning import PLANNERS
from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.asking.grammar import QueryTextError, Schema, read_query
from scenarios.assessment.asking.phrases import PHRASES

SCHEMA = Schema(
    ("name", "age", "income", "job", "home town", "note", "weight"),
    {
        "age": NumericDomain(18, 90, integer=True),
        "income": NumericDomain(0, 100_000),
        "job": CategoricalDomain(("clerk", "cook", "tax adviser", "where", "3")),
        "home town": CategoricalDomain(("Nara", "Uji")),
        "weight": NumericDomain(40, 120, inferred=True),
        "name": CategoricalDomain(("Ann",)),
    },
    identifiers=("name",),
    declared_in="roles.toml",
)
CLERK = Condition("job", values=("clerk",))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("count", Count()),
        ("COUNT WHERE job=clerk", Count(where=CLERK)),
        ("mean income where job=clerk", Mean("income", where=CLERK)),
        ("  mean   of income  where job = clerk ", Mean("income", where=CLERK)),
        ("sum of age", Sum("age")),
        ("median age", Median("age")),
        ("quantile 0.9 of income", Quantile("income", 0.9)),
        ("minimum age", Minimum("age")),
        ("maximum age", Maximum("age")),
        ("variance income", Variance("income")),
        ("covariance of age and income", Covariance("age", "income")),
        ("correlation age and income", Correlation("age", "income")),
        ("mode of 'home town'", Mode("home town")),
        ("histogram job", Histogram("job")),
        ('table of job and "home town"', ContingencyTable(("job", "home town"))),
        (
            "mean income where job=clerk|'tax adviser' and age between 30 and 39",
            Mean(
                "income",
                where=(Condition("job", values=("clerk", "tax adviser")), Condition("age", interval=(30, 39))),
            ),
        ),
        (
            "count where job='where' and age=30|31",
            Count(where=(Condition("job", values=("where",)), Condition("age", values=(30.0, 31.0)))),
        ),
        ("count where job=3", Count(where=Condition("job", values=("3",)))),
        ("count where age<=30", Count(where=Condition("age", interval=(-math.inf, 30)))),
        ("count where age >= -3e1", Count(where=Condition("age", interval=(-30, math.inf)))),
        ("count where age<30", Count(where=Condition("age", interval=(-math.inf, math.nextafter(30, 0))))),
        ("count where age>30", Count(where=Condition("age", interval=(math.nextafter(30, 99), math.inf)))),
    ],
)
def test_queries_are_read(text, query):
    assert read_query(text, SCHEMA) == query


def test_every_query_of_a_curator_has_a_phrase():
    assert {kind.__name__ for kind in PLANNERS} == set(PHRASES)
    assert len({phrase.split()[0] for phrase in PHRASES.values()}) == len(PHRASES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at its end: a statistic"),
        ("means income", "character 1, 'means': is no statistic; did you mean 'mean'"),
        ("'mean' income", "character 1, 'mean': is no statistic"),
        ("mean", "at its end: a column is missing"),
        ("mean of", "at its end: a column is missing"),
        ("mean incme", "character 6, 'incme': is no column; did you mean 'income'"),
        ("mean of job", "character 9, 'job': holds categories; the mean needs numbers"),
        ("mean weight", "character 6, 'weight': has no public domain: declare .* in roles.toml"),
        ("mean note", "character 6, 'note': has no public domain"),
        ("mode name", "character 6, 'name': is an identifier"),
        ("mean income job=clerk", "character 13, 'job': stands where 'where' or the end is expected"),
        ("mean income where", "at its end: a column is missing"),
        ("mean income where job", "at its end: a comparison"),
        ("mean income where job=", "at its end: a category of 'job' is missing"),
        ("mean income where job=clrk", "character 23, 'clrk': is no category of 'job'; did you mean 'clerk'"),
        ("mean income where job=clerk|", "at its end: a category"),
        ("mean income where job=clerk or age=3", "character 29, 'or': stands where 'and' or the end"),
        ("mean income where job<clerk", "character 22, '<': compares numbers, and 'job' holds categories"),
        ("mean income where job like clerk", "character 23, 'like': is no comparison; known are ="),
        ("mean income where age!=3", "character 22, '!': is no comparison"),
        ("mean income where age=old", "character 23, 'old': is no number"),
        ("mean income where age=nan", "character 23, 'nan': is no number"),
        ("mean income where age=1e999", "character 23, '1e999': is no number"),
        ("mean income where age=1_0", "character 23, '1_0': is no number"),
        ("mean income where age between 3", "at its end: 'and' between the two numbers"),
        ("mean income where age between 39 and 30", "character 38, '30': is below 39"),
        ("mean income where job=where", "character 23, 'where': stands where a category"),
        ("mean income where where=3", "character 19, 'where': stands where a column"),
        ("mean income where job='clerk", "character 23, ': this quote is not closed"),
        ("quantile income", "character 10, 'income': is no number"),
        ("quantile 1.5 of income", "character 10, '1.5': is no level"),
        ("correlation of age", "at its end: 'and' with another column"),
        ("correlation of age where job=clerk", "character 20, 'where': stands where 'and' with another column"),
        ("correlation of age and income and age", "character 31, 'and': stands where 'where' or the end"),
        ("table of job and job", "character 18, 'job': stands twice"),
        ("mean(income)", "character 5, '\\(': stands where a column"),
    ],
)
def test_errors_point_at_the_word(text, message):
    with pytest.raises(QueryTextError, match=f"^query, {message}") as refusal:
        read_query(text, SCHEMA)
    assert "\n" not in str(refusal.value)
