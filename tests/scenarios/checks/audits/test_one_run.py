"""Audits in one run: correct mechanisms pass, broken ones fail, and bad input is refused.

Bounds hold with 99.9 %: a test that asserts that a correct mechanism passes raises a false alarm in at most 0.1 % of
seeds. Seeds are fixed.
"""

import json
import math
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

from defenses.dp import DiscreteGaussian, Gaussian, Laplace
from defenses.federated.noise import gaussian_epsilon
from scenarios.checks.audits import audit as one_run
from scenarios.checks.audits.audit import Canaries, audit, one_run_audit
from scenarios.checks.audits.canaries import canaries
from scenarios.checks.audits.subjects import subject
from scenarios.commands.cli import cli


def rng(seed=0):
    return np.random.default_rng(seed)


def coin(odds):
    def answers(included, rng):
        return np.where(rng.random(included.shape) < 1 / (1 + math.exp(-odds)), included, ~included)

    return answers


@pytest.mark.long
def test_coverage_over_many_audits(monkeypatch):
    """At a confidence of 90 %, at most 10 % of audits fail; more than 17 % of 150 have a probability of 0.4 %."""
    # Bounds depend on the number of correct guesses alone, which few values have.
    for name in ("one_run_epsilon", "gaussian_shift_bound"):
        monkeypatch.setattr(one_run, name, cache(getattr(one_run, name)))

    def noise(included, rng):
        return rng.normal(size=included.shape) + included

    subjects = [
        Canaries("coin", 1.0, 0.0, "", coin(1.0)),
        Canaries("noise", gaussian_epsilon(1.0, 1e-5), 1e-5, "", noise, gaussian=True),
    ]
    for examined in subjects:
        results = [
            one_run_audit(examined, canaries=64, runs=2, confidence=0.9, rng=source) for source in rng(1).spawn(150)
        ]
        assert np.mean([not result.holds for result in results]) < 0.17


@pytest.mark.long
@pytest.mark.parametrize(
    ("epsilon", "size"),
    [(2.0, 1000), *(pytest.param(value, 2000, marks=pytest.mark.long) for value in (1.0, 2.0, 4.0, 8.0))],
)
def test_gaussian_noise_is_bounded_as_by_twenty_times_as_many_runs(epsilon, size):
    """40,000 noisy numbers give a bound of at least 85 % of that of the many-run audit from 800,000; so do halves."""
    mechanism = Gaussian(epsilon=epsilon, delta=1e-5)
    many = audit(subject(mechanism), runs=200 * size, rng=rng())
    few = one_run_audit(canaries(mechanism), canaries=size, runs=20, rng=rng())
    assert few.holds
    assert few.bound >= 0.85 * many.bound


@pytest.mark.thorough
def test_one_run_alone_gives_a_smaller_bound():
    mechanism = DiscreteGaussian(epsilon=2.0, delta=1e-5)
    one = one_run_audit(canaries(mechanism), canaries=10_000, runs=1, rng=rng())
    twenty = one_run_audit(canaries(mechanism), canaries=500, runs=20, rng=rng())
    assert 0.5 < one.bound < twenty.bound <= 2


def test_a_fixed_number_of_guesses_gives_one_bound_for_each_form():
    result = one_run_audit(canaries(DiscreteGaussian()), canaries=100, guesses=10, rng=rng())
    assert [(part.form, part.guesses) for part in result.parts] == [("any", 10), ("gaussian", 10)]


def test_one_seed_gives_one_result():
    first, second = (one_run_audit(canaries(Laplace()), canaries=100, rng=rng(5)) for _ in range(2))
    assert first.parts == second.parts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"canaries": 15}, "canaries"),
        ({"canaries": 20.5}, "canaries"),
        ({"guesses": 0}, "guesses"),
        ({"canaries": 100, "guesses": 101}, "at most the number of canaries"),
        ({"runs": 0}, "runs"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
    ],
)
def test_bad_numbers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        one_run_audit(canaries(Laplace()), **arguments, rng=rng())


@pytest.mark.parametrize("scores", [np.zeros(3), np.full((20, 32), np.nan)])
def test_scores_of_another_shape_and_nan_are_refused(scores):
    broken = Canaries("broken", 1.0, 0.0, "", lambda included, rng: scores)
    with pytest.raises(ValueError, match="each run must give every canary a score"):
        one_run_audit(broken, canaries=32, rng=rng())


@pytest.mark.parametrize(("epsilon", "delta"), [(math.inf, 0.0), (-1.0, 0.0), (1.0, 1.0)])
def test_claims_are_checked(epsilon, delta):
    with pytest.raises(ValueError, match="claims"):
        Canaries("claim", epsilon, delta, "", coin(1.0))


def run(*arguments):
    return CliRunner().invoke(cli, ["audit", *arguments])


def test_the_command_shows_bounds_and_passes():
    result = run("Laplace", "-p", "epsilon=1", "--one-run", "--canaries", "200")
    assert result.exit_code == 0, result.output
    assert "20 runs with 200 canaries each: numbers of one array, each 0 or 1" in result.output
    assert "no evidence against the claim" in result.output
    one = run("Laplace", "-p", "epsilon=1", "--one-run", "--runs", "1")
    assert "1 run with" in one.output
    assert "loose" in one.output


@pytest.mark.thorough
@pytest.mark.usefixtures("declarations_are_believed")
def test_the_command_in_json():
    result = run("DiscreteGaussian", "-p", "delta=0.01", "--one-run", "--canaries", "200", "--format", "json")
    values = json.loads(result.output)
    assert values["violated"] is False
    assert (values["runs"], values["canaries"], values["epsilon"]) == (20, 200, 1.0)
    assert [part["trade_off"] for part in values["guesses"]] == ["any"] * 3 + ["gaussian"] * 2
    assert values["epsilon_at_least"] == max(part["epsilon_at_least"] for part in values["guesses"])


class TooLittleNoise:
    """Claims half of its true epsilon."""

    def __init__(self, *, epsilon=1.0):
        self.epsilon = epsilon

    def release(self, value, rng):
        return Laplace(epsilon=2 * self.epsilon).release(value, rng)


@pytest.mark.thorough
@pytest.mark.usefixtures("declarations_are_believed")
def test_the_command_fails_a_broken_mechanism():
    result = run(f"{__name__}:TooLittleNoise", "--one-run", "--canaries", "100")
    assert result.exit_code == 1, result.output
    assert "FAILED" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Laplace", "--canaries", "100"], "need --one-run"),
        (["Laplace", "--guesses", "100"], "need --one-run"),
        (["Laplace", "--runs", "7"], "runs must be an integer of at least 8"),
        (["Laplace", "--one-run", "--canaries", "3"], "canaries must be an integer of at least 16"),
        (["Laplace", "--one-run", "--canaries", "100", "--guesses", "101"], "at most the number of canaries, 100"),
        (["Laplace", "--one-run", "--runs", "0"], "--runs"),
        (["Mondrian", "-p", "k=2", "--one-run"], "claims no epsilon"),
        (["LocalReports", "-p", "column=answer", "--one-run"], "audit the mechanism behind it"),
        (["DiscreteLaplace", "-p", "sensitivity=0.5", "--one-run"], "sensitivity"),
        (["fractions:Fraction", "--one-run"], "neither"),
    ],
)
def test_bad_input_exits_with_2(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
