"""The channel part of reported numbers: likelihoods of cells under values and bins, files and bad input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from number_tools import MECHANISMS

from defenses.base.channel import Channel
from defenses.base.channel_parts import ReportedNumber
from defenses.ldp import TwoPointMechanism
from metrics.columns.domains import CategoricalDomain, NumericDomain

AGES = NumericDomain(18, 95, integer=True, cuts=(30, 50, 70))
LENGTHS = NumericDomain(-1.5, 4.0, cuts=(0.0, 0.5, 4.0))
FAR = NumericDomain(1e6, 1e6 + 10, integer=True, cuts=(1e6 + 5,))


def part_of(mechanism, domain, missing=True):
    return ReportedNumber("x", domain, float(mechanism.epsilon), mechanism.share, missing)


def sent(part, mechanism, values, seed=0):
    reports = mechanism.law.draw(part.scaled(np.asarray(values, dtype=float)), np.random.default_rng(seed))
    return pd.DataFrame({"x": part.published(reports)}), reports


@pytest.mark.thorough_beyond(10)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("domain", [AGES, LENGTHS, FAR])
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
@pytest.mark.parametrize("domain", [AGES, LENGTHS, FAR])
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
    for domain, count in ((AGES, 78), (FAR, 11)):
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
    part = part_of(mechanism, AGES)
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
    good = {"column": "x", "domain": AGES, "epsilon": 1.0, "share": 1.0, "missing": True}
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
