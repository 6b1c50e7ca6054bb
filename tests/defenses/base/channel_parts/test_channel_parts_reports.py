"""Channel parts of reports: exact likelihoods by enumeration, restriction to some columns, and files."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from number_tools import MECHANISMS

from defenses.base.channel import Channel
from defenses.base.channel_parts import ReportAmongFakes, ReportedNumber, ReportedSet
from defenses.ldp import GeneralizedRandomizedResponse, OptimizedUnaryEncoding, TwoPointMechanism
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


AGES_REPORTED_NUMBER = NumericDomain(18, 95, integer=True, cuts=(30, 50, 70))
LENGTHS = NumericDomain(-1.5, 4.0, cuts=(0.0, 0.5, 4.0))
FAR = NumericDomain(1e6, 1e6 + 10, integer=True, cuts=(1e6 + 5,))


def part_of(mechanism, domain, missing=True):
    return ReportedNumber("x", domain, float(mechanism.epsilon), mechanism.share, missing)


def sent(part, mechanism, values, seed=0):
    reports = mechanism.law.draw(part.scaled(np.asarray(values, dtype=float)), np.random.default_rng(seed))
    return pd.DataFrame({"x": part.published(reports)}), reports


@pytest.mark.thorough_beyond(10)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("domain", [AGES_REPORTED_NUMBER, LENGTHS, FAR])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 30.0, 60.0, 700.0])
def test_cells_have_the_likelihood_of_their_reports(make, domain, epsilon):
    mechanism = make(epsilon=epsilon)
    part = part_of(mechanism, domain)
    values = np.append(np.linspace(domain.low, domain.high, 78), np.nan)
    frame, reports = sent(part, mechanism, values)
    table = part.bind(frame, pd.DataFrame({"x": values})).table()
    # Rounding to doubles moves no cell out of the piece of its own value, but may merge it with an atom.
    inside = mechanism.law.log_likelihood(reports, part.scaled(values))
    atoms = np.array([-mechanism.law.atom, mechanism.law.atom])
    near = np.abs(frame["x"].to_numpy()[:, None] - part.published(atoms)).min(axis=1) <= 4 * np.spacing(1e6 + 100)
    merged = near & ~np.isin(reports, atoms)
    np.testing.assert_allclose(np.diag(table)[~merged], inside[~merged], rtol=1e-12)
    assert merged.sum() <= 2
    assert (np.ptp(table, axis=1) <= epsilon * (1 + 1e-12)).all()
    if epsilon < 3:
        exact = mechanism.law.log_likelihood(reports[:, None], part.scaled(values)[None, :])
        np.testing.assert_allclose(table, exact, rtol=1e-9)
    copy = Channel.from_toml(Channel((part,)).to_toml()).parts[0]
    assert copy == part
    np.testing.assert_array_equal(copy.bind(frame, pd.DataFrame({"x": values})).table(), table)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("domain", [AGES_REPORTED_NUMBER, LENGTHS, FAR])
@pytest.mark.parametrize("epsilon", [1.0, 25.0])
def test_cells_that_were_written_and_read_keep_their_likelihood(make, domain, epsilon):
    mechanism = make(epsilon=epsilon)
    part = part_of(mechanism, domain)
    values = np.repeat(np.linspace(domain.low, domain.high, 12), 40)
    frame, _ = sent(part, mechanism, values)
    texts = frame.astype(str)
    # The fast reader of numbers misses the last digit of some.
    rough = pd.DataFrame({"x": pd.to_numeric(texts["x"])})
    if make is not TwoPointMechanism:
        assert (rough["x"] != frame["x"]).any()
    original = pd.DataFrame({"x": values[::40]})
    expected, bins = part.bind(frame, original).table(), part.bin_log_likelihoods(frame["x"])
    assert np.isfinite(expected).all()
    for cells in (texts, rough, frame * (1 + 2.0**-52), frame * (1 - 2.0**-52)):
        np.testing.assert_array_equal(part.bind(cells, original).table(), expected)
        np.testing.assert_allclose(part.bin_log_likelihoods(cells["x"]), bins, atol=1e-4)


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.3, 3.0, 12.0])
def test_the_likelihood_of_a_bin_is_the_mean_over_its_values(make, epsilon):
    mechanism = make(epsilon=epsilon)
    for domain, count in ((AGES_REPORTED_NUMBER, 78), (FAR, 11)):
        part = part_of(mechanism, domain)
        values = np.linspace(domain.low, domain.high, count)
        frame, _ = sent(part, mechanism, np.repeat(values, 3))
        points = np.append(values, np.nan)
        exact = np.exp(part.bind(frame, pd.DataFrame({"x": points})).table())
        expected = np.column_stack([exact[:, domain.codes(points) == code].mean(axis=1) for code in range(part.size)])
        bins = part.bin_log_likelihoods(frame["x"])
        assert bins.shape == expected.shape
        logs = np.log(expected)
        np.testing.assert_allclose(bins - bins[:, :1], logs - logs[:, :1], atol=1e-9)


def test_the_likelihood_of_a_bin_of_fractions_is_its_integral():
    mechanism = MECHANISMS[2](epsilon=2.0)
    part = part_of(mechanism, LENGTHS, missing=False)
    points = np.linspace(-1.5, 4.0, 22_001)
    frame, _ = sent(part, mechanism, points[::400])
    exact = np.exp(part.bind(frame, pd.DataFrame({"x": points})).table())
    # The last bin holds the number 4 alone.
    codes = LENGTHS.codes(points)
    expected = np.log(np.column_stack([exact[:, codes == code].mean(axis=1) for code in range(4)]))
    bins = part.bin_log_likelihoods(frame["x"])
    assert bins.shape == (len(frame), 4)
    np.testing.assert_allclose(bins - bins[:, :1], expected - expected[:, :1], atol=2e-3)


@pytest.mark.parametrize("make", MECHANISMS)
def test_no_report_missing_values_and_impossible_ones(make):
    mechanism = make(epsilon=1.0)
    part = part_of(mechanism, AGES_REPORTED_NUMBER)
    report = part.published(np.array([mechanism.law.atom if mechanism.share == 0 else 0.25]))[0]
    frame = pd.DataFrame({"x": pd.Series([report, "*", 1e9], dtype=object)})
    values = pd.DataFrame({"x": [20.0, np.nan, 17.0]})
    table = part.bind(frame, values).table()
    assert np.isfinite(table[0, :2]).all()
    assert (table[1, :2] == 0).all()
    assert (table[2] == -np.inf).all()
    assert (table[:, 2] == -np.inf).all()
    refusing = replace(part, missing=False).bind(frame, values).table()
    assert (refusing[:, 1:] == -np.inf).all()
    assert (part.bin_log_likelihoods(frame["x"])[1] == 0).all()


def test_bad_input():
    good = {"column": "x", "domain": AGES_REPORTED_NUMBER, "epsilon": 1.0, "share": 1.0, "missing": True}
    for change, message in (
        ({"domain": CategoricalDomain(("a",))}, "column 'x' needs a numeric domain with low below high"),
        ({"domain": NumericDomain(3, 3)}, "needs a numeric domain with low below high"),
        ({"epsilon": np.nan}, "epsilon must lie in"),
        ({"epsilon": 0.0}, "epsilon must lie in"),
        ({"share": 1.5}, "share in"),
        ({"domain": NumericDomain(-1e308, 1e308), "epsilon": 1e-3}, "too wide for its reports"),
    ):
        with pytest.raises(ValueError, match=message):
            ReportedNumber(**good | change)
    with pytest.raises(ValueError, match="column 'x', row 1: the cell is no plain number"):
        ReportedNumber(**good).bind(pd.DataFrame({"x": ["3", "old"]}), pd.DataFrame({"x": [20]}))
