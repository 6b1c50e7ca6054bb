"""PRAM with the most informative matrix of any form."""

import numpy as np
import pandas as pd
import pytest

from defenses import Channel, Microdata, OptimalMatrix
from defenses.base.channel_parts import TransitionTable
from defenses.pram import optimal_retention, retention_for_epsilon, transition_matrix
from defenses.pram.freedom import most_informative_matrix, mutual_information
from defenses.pram.matrix import epsilon, pk
from metrics import CategoricalDomain, NumericDomain
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

ABC = CategoricalDomain(("a", "b", "c"))


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), "y": rng.integers(0, 40, n)})
    domains = {"x": ABC, "y": NumericDomain(0, 39, integer=True, cuts=tuple(range(1, 20)))}
    return Microdata(frame, quasi_identifiers=("x", "y"), domains=domains)


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("level", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("counts", [(1, 1, 1), (60, 30, 10), (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)])
def test_no_other_form_says_more_under_the_same_epsilon(level, counts):
    d = len(counts)
    ours = most_informative_matrix(counts, level)
    assert epsilon(ours) <= level
    others = [
        transition_matrix(np.full(d, retention_for_epsilon(level, d))),
        transition_matrix(optimal_retention(counts, level)),
    ]
    for other in others:
        assert mutual_information(ours, counts) >= mutual_information(other, counts) - 1e-9


def test_release_follows_the_matrix_and_its_channel():
    records = table(20_000)
    defense = OptimalMatrix(epsilon=2.0, columns=["x"], prior={"x": [60, 30, 10]})
    release = defense.apply(records, np.random.default_rng(1))
    (part,) = release.channel.parts
    matrix = np.array(part.matrix)
    assert matrix == pytest.approx(most_informative_matrix([60, 30, 10], 2.0))
    seen = pd.crosstab(release.frame["x"], records.frame["x"], normalize="columns").reindex(
        index=list("abc"), fill_value=0
    )
    # The rarest category has some 2,000 records: 5 standard errors are at most .056.
    assert np.abs(seen.to_numpy() - matrix).max() < 0.056
    pairs = part.bind(release.frame.iloc[:3], records.frame.iloc[:3]).table()
    codes = [ABC.codes(frame["x"].iloc[:3]) for frame in (release.frame, records.frame)]
    with np.errstate(divide="ignore"):
        assert pairs == pytest.approx(np.log(matrix)[np.ix_(*codes)])
    copy = Channel.from_toml(release.channel.to_toml())
    assert copy.parts == release.channel.parts


def test_guarantee_is_that_of_the_matrices():
    records = table()
    guarantee = OptimalMatrix(epsilon=2.0, columns=["x"]).guarantee(records)
    matrix = most_informative_matrix(np.ones(3), 2.0)
    assert guarantee.epsilon == pytest.approx(epsilon(matrix))
    assert guarantee.epsilon <= 2.0
    assert guarantee.pk == pytest.approx(pk(matrix, len(records)))
    # Twenty bins are too many for the program: retention-replacement, within the same epsilon.
    both = OptimalMatrix(epsilon=2.0).guarantee(records)
    assert both.epsilon == pytest.approx(2.0)
    assert OptimalMatrix(epsilon=2.0, columns=[]).guarantee(records).epsilon is None


@pytest.mark.thorough
def test_the_audit_does_not_refute_it_and_refutes_twice_its_epsilon():
    class Loud(OptimalMatrix):
        """Claims half of what it spends."""

        def guarantee(self, records):
            return OptimalMatrix(epsilon=self.epsilon / 2).guarantee(records)

    honest = audit(subject(OptimalMatrix(epsilon=3.0)), runs=40_000, rng=np.random.default_rng(0))
    assert honest.holds
    assert honest.bound > 1.5
    assert not audit(subject(Loud(epsilon=3.0)), runs=40_000, rng=np.random.default_rng(0)).holds


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 31.0}, "epsilon"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"epsilon": 1.0, "prior": [1, 2]}, "prior must map columns"),
        ({"epsilon": 1.0, "prior": {"x": [1, -1]}}, "prior of column 'x'"),
        ({"epsilon": 1.0, "prior": {"x": "many"}}, "prior of column 'x'"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalMatrix(**parameters)


def test_refuses_priors_of_another_size():
    with pytest.raises(ValueError, match="prior of column 'x' has 2 counts, the column 3 categories"):
        OptimalMatrix(epsilon=1.0, prior={"x": [1, 2]}).apply(table(), np.random.default_rng(0))


@pytest.mark.parametrize("matrix", [(), ((1.0, 0.0),), ((0.5, 0.5), (0.6, 0.5)), ((1.5, 0.0), (-0.5, 1.0))])
def test_channel_part_refuses_matrices(matrix):
    with pytest.raises(ValueError, match="transition_table"):
        TransitionTable("x", ABC, matrix)
