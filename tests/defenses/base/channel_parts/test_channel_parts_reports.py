"""Channel parts of reports: exact likelihoods by enumeration, restriction to some columns, and files."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from defenses.base.channel import Channel
from defenses.base.channel_parts import ReportAmongFakes, ReportedSet
from defenses.ldp import GeneralizedRandomizedResponse, OptimizedUnaryEncoding
from defenses.ldp.reported.reported_columns import ReportedColumn
from defenses.ldp.reported.splitting import BudgetSplitting, ColumnSamplingAmongFakes
from metrics.columns.cells import set_cell
from metrics.columns.domains import CategoricalDomain, NumericDomain

AGES = NumericDomain(0, 120, integer=True, cuts=(30, 60))
LETTERS = CategoricalDomain(("a", "b"))
VALUES = {"age": [10, 40, 70], "letter": ["a", "b"]}


def columns(make, epsilon=1.3):
    return [
        ReportedColumn("age", AGES, make(epsilon=epsilon, d=3)),
        ReportedColumn("letter", LETTERS, make(epsilon=epsilon, d=2)),
    ]


def randomized_response(column):
    """Probability of each cell under each value, and as a fake of a random value."""
    names = AGES.cells() if column.name == "age" else LETTERS.categories
    table = {
        name: [column.protocol.p if i == j else column.protocol.q for j in range(len(names))]
        for i, name in enumerate(names)
    }
    return table, {name: float(np.mean(row)) for name, row in table.items()}


def unary_encoding(column):
    """Probability of each set of bits under each value, and as a fake of no value."""
    names = AGES.cells() if column.name == "age" else list(LETTERS.categories)
    p, q, d = column.protocol.p, column.protocol.q, column.protocol.d
    table, blank = {}, {}
    for size in range(d + 1):
        for bits in combinations(range(d), size):
            cell = set_cell([names[bit] for bit in bits]) if bits else "*"
            cell = cell if column.name == "letter" else cell.replace("\\", "")
            blank[cell] = q**size * (1 - q) ** (d - size)
            table[cell] = [
                p * q ** (size - 1) * (1 - q) ** (d - size)
                if value in bits
                else (1 - p) * q**size * (1 - q) ** (d - 1 - size)
                for value in range(d)
            ]
    return table, blank


def enumerated(tables, fakes):
    """All rows of two cells with their likelihood under each of the six pairs of values."""
    for ages, letters in product(tables[0], tables[1]):
        yield (
            (ages, letters),
            [
                (tables[0][ages][i] * fakes[1][letters] + tables[1][letters][j] * fakes[0][ages]) / 2
                for i, j in product(range(3), range(2))
            ],
        )


PEOPLE = pd.DataFrame([{"age": age, "letter": letter} for age, letter in product(VALUES["age"], VALUES["letter"])])


@pytest.mark.parametrize(
    ("make", "reports", "blank"),
    [
        (GeneralizedRandomizedResponse, randomized_response, False),
        (OptimizedUnaryEncoding, unary_encoding, True),
    ],
)
def test_a_report_among_fakes_has_its_exact_likelihood(make, reports, blank):
    both = columns(make)
    tables, fakes = zip(*map(reports, both), strict=True)
    rows, exact = zip(*enumerated(tables, fakes), strict=True)
    (part,) = ColumnSamplingAmongFakes(blank=blank).parts(both)
    released = pd.DataFrame(rows, columns=["age", "letter"])
    logs = part.bind(released, PEOPLE).table()
    difference = logs - np.log(exact)
    # Likelihoods are known up to a constant for each row.
    assert np.ptp(difference, axis=1).max() < 1e-12


def test_a_report_of_random_value_among_unary_fakes_has_its_exact_likelihood():
    both = columns(OptimizedUnaryEncoding)
    tables = [unary_encoding(column)[0] for column in both]
    fakes = [{cell: float(np.mean(row)) for cell, row in table.items()} for table in tables]
    rows, exact = zip(*enumerated(tables, fakes), strict=True)
    (part,) = ColumnSamplingAmongFakes().parts(both)
    logs = part.bind(pd.DataFrame(rows, columns=["age", "letter"]), PEOPLE).table()
    assert np.ptp(logs - np.log(exact), axis=1).max() < 1e-12


def test_reading_one_of_two_columns_is_exact():
    both = columns(GeneralizedRandomizedResponse)
    (table, other), fakes = zip(*map(randomized_response, both), strict=True)
    (part,) = ColumnSamplingAmongFakes().parts(both)
    restricted = part.restricted(["age"])
    logs = restricted.bind(pd.DataFrame({"age": list(table)}), pd.DataFrame({"age": VALUES["age"]})).table()
    for cell, row in zip(table, logs, strict=True):
        expected = [(likelihood + fakes[0][cell]) / 2 for likelihood in table[cell]]
        assert np.ptp(row - np.log(expected)) < 1e-12
    assert len(other) == 2
    assert part.restricted(["other"]) is None
    # A channel reads the columns that both sides have.
    channel = Channel((part,))
    frame = pd.DataFrame({"age": list(table)})
    assert list(channel.likelihoods(frame, PEOPLE[["age"]], {})) == [("age",)]


def test_a_set_is_as_likely_as_its_protocol_says():
    column = columns(OptimizedUnaryEncoding)[0]
    table, _ = unary_encoding(column)
    (part,) = BudgetSplitting().parts([column])
    logs = part.bind(pd.DataFrame({"age": list(table)}), pd.DataFrame({"age": VALUES["age"]})).table()
    assert np.ptp(logs - np.log(list(table.values())), axis=1).max() < 1e-12


def test_missing_values_are_impossible_unless_they_count():
    people, cells = pd.DataFrame({"letter": ["a", None]}), pd.DataFrame({"letter": ["a", "{b|}", None]})
    refused = ReportedSet("letter", LETTERS, 2, 1.0, 0.0).bind(cells, people).table()
    counted = ReportedSet("letter", LETTERS, 3, 1.0, 0.0).bind(cells, people).table()
    assert (refused[:, 1] == -np.inf).all()
    assert counted.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    joint = ReportAmongFakes(("letter",), (LETTERS,), (2,), (1.0,), (), 0).bind(cells, people).table()
    assert (joint[:, 1] == -np.inf).all()


def test_parts_survive_a_file():
    both = columns(OptimizedUnaryEncoding)
    for parts in (ColumnSamplingAmongFakes(blank=True).parts(both), BudgetSplitting().parts(both)):
        assert Channel.from_toml(Channel(parts).to_toml()).parts == parts


def test_lengths_must_fit():
    with pytest.raises(ValueError, match="one entry a column"):
        ReportAmongFakes(("letter",), (LETTERS,), (2, 2), (1.0,), (), 0)
