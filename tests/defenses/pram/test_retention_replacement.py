"""Retention replacement and its guarantees."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from defense_tools import AGE, apply, people, public, table

from defenses.base.defense import released_frame
from defenses.pram.retention_defenses import RetentionReplacement
from metrics.columns.domains import CategoricalDomain, NumericDomain


def joint_tables(defense, records):
    """Probabilities P(released, original) of each randomized column over its whole domain."""
    for part in apply(defense, records).channel.parts:
        if isinstance(part.domain, NumericDomain):
            cells, values = part.domain.cells(), part.domain.edges[:-1]
        else:
            cells, values = released_frame(table(c=list(part.domain.categories)))["c"], part.domain.categories
        frames = pd.DataFrame({part.column: cells}), pd.DataFrame({part.column: values})
        yield np.exp(part.bind(*frames).table())


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    "defense",
    [
        RetentionReplacement(epsilon=1.0),
        RetentionReplacement(epsilon=3.5, columns=["age", "job"]),
        RetentionReplacement(k=5),
        RetentionReplacement(retention=0.8),
        RetentionReplacement(retention=0.0),
        RetentionReplacement(k=40),
    ],
    ids=repr,
)
def test_retention_keeps_its_guarantee_exactly(defense):
    records = public()
    guarantee = defense.guarantee(records)
    joint = np.ones((1, 1))
    for probability in joint_tables(defense, records):
        joint = np.kron(joint, probability)
    np.testing.assert_allclose(joint.sum(axis=0), 1)
    worst = np.log(joint.max(axis=1) / joint.min(axis=1)).max()
    assert worst == pytest.approx(guarantee.epsilon, abs=1e-9)
    if defense.epsilon is not None:
        assert worst == pytest.approx(defense.epsilon)
    # Of two records a, b and two releases x, y the least P(y|a) P(x|b) / (P(x|a) P(y|b)).
    logs = np.log(joint)
    spread = max(np.ptp(logs[:, a] - logs[:, b]) for a, b in product(range(joint.shape[1]), repeat=2))
    assert 1 + 39 * np.exp(-spread) == pytest.approx(guarantee.pk)
    if defense.k is not None:
        assert guarantee.pk == pytest.approx(defense.k)


def test_retention_guarantees_nothing_that_rests_on_the_records():
    assert (
        "the domain of smokes is read from the records; declare it"
        in RetentionReplacement(epsilon=1.0).guarantee(people()).statement
    )
    assert str(RetentionReplacement(epsilon=1.0).guarantee(people())) == "none"
    records = table({"x": AGE}, x=[20, np.nan, 30])
    assert "a value of x is missing" in RetentionReplacement(epsilon=1.0).guarantee(records).statement
    everything = RetentionReplacement(retention=1.0).guarantee(public())
    assert (everything.epsilon, everything.pk) == (None, 1)
    with pytest.raises(ValueError, match="k must be at most the number of records, 40, got 41"):
        RetentionReplacement(k=41).guarantee(public())


def test_retention_randomizes_missing_values_too():
    records = table({"x": CategoricalDomain(("a", "b|"))}, x=["a", None] * 5000)
    release = apply(RetentionReplacement(retention=0.5), records)
    shares = release.frame["x"][1::2].value_counts(dropna=False, normalize=True)
    assert shares.index.isna().any()
    # Five standard errors of a share of 1/4 of 5,000.
    assert shares["a"] == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 5000))
    assert shares["b\\|"] == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 5000))


def test_retention_of_one_category_and_one_bin():
    domains = {"c": CategoricalDomain(("a",)), "x": NumericDomain(0, 9)}
    records = table(domains, c=["a", "a"], x=[1.0, 2.0])
    release = apply(RetentionReplacement(epsilon=1.0), records)
    assert release.frame["c"].tolist() == ["a", "a"]
    assert release.frame["x"].tolist() == ["[0,9]", "[0,9]"]
    assert RetentionReplacement(epsilon=1.0).guarantee(records).epsilon == 0
    assert RetentionReplacement(epsilon=1.0).guarantee(records).pk == 2


def test_retention_names_a_value_outside_the_domain():
    with pytest.raises(ValueError, match="column 'c', row 0: unknown category; known are a"):
        apply(RetentionReplacement(retention=0.5), table({"c": CategoricalDomain(("a",))}, c=["z"]))
