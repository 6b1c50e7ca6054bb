"""Bounds from canaries: exact in the cases with a closed form, and valid over many simulated runs.

Coverage is tested at 90 %: a correct bound exceeds the truth in at most 10 % of runs. That more than 13 % of 1000 runs
exceed it has a probability below 0.2 %. Seeds are fixed.
"""

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr, ndtri

from metrics.empirical_epsilon import _largest_tails, gaussian_shift_bound, one_run_epsilon, one_run_p_value

RUNS, CONFIDENCE = 1000, 0.9


def rng(seed=0):
    return np.random.default_rng(seed)


def best_guesses(scores, included, guesses):
    """Number of correct guesses about the canaries with the highest and the lowest scores of each run."""
    ranked = np.take_along_axis(included, np.argsort(scores, kind="stable"), axis=-1)
    absent, present = guesses // 2, guesses - guesses // 2
    return int((~ranked[..., :absent]).sum() + ranked[..., -present:].sum())


def fewest_alarming(bound, guesses, truth):
    """The fewest correct guesses whose bound exceeds the truth: bounds grow with the number of correct guesses."""
    low, high = -1, guesses + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) > truth else (middle, high)
    return high


def test_without_delta_the_bound_is_that_of_clopper_and_pearson():
    low = betaincinv(73, 100 - 73 + 1, 0.05)
    assert one_run_epsilon(73, 100, 400, confidence=0.95) == pytest.approx(np.log(low / (1 - low)), abs=1e-6)


def test_delta_raises_the_p_value_by_the_stated_term():
    # Two guesses, both correct, at epsilon 0: P(B >= 2) = 1/4, and the maximum is max(1/2, 3/4 / 2) = 1/2.
    assert one_run_p_value(2, 2, 10, epsilon=0.0, delta=0.01) == pytest.approx(0.25 + 2 * 10 * 0.01 / 2)


def test_one_canary_has_the_power_of_the_test_between_two_gaussians():
    assert _largest_tails(1, 1, 1.3)[1] == pytest.approx(ndtr(0.65), abs=1e-4)


def test_runs_with_one_canary_each_give_the_bound_of_clopper_and_pearson():
    low = betaincinv(700, 301, 0.01)
    found = gaussian_shift_bound(700, 1, 1, runs=1000, confidence=0.99)
    assert found == pytest.approx(2 * ndtri(low), abs=0.005)


@pytest.mark.long
def test_nothing_is_proved_by_half_of_the_guesses():
    assert one_run_epsilon(50, 100, 100, confidence=0.9) == 0
    assert gaussian_shift_bound(50, 100, 100, confidence=0.9) == 0
    assert gaussian_shift_bound(500, 100, 100, runs=10, confidence=0.9) == 0


def test_randomized_response_has_coverage_and_is_tight():
    """Randomized response reaches the bound, so that false alarms come near 10 %."""
    correct = rng(1).binomial(500, 1 / (1 + np.exp(-1.0)), RUNS)
    fewest = fewest_alarming(lambda right: one_run_epsilon(right, 500, 500, confidence=CONFIDENCE), 500, 1)
    assert 0.05 < (correct >= fewest).mean() < 0.13


@pytest.mark.parametrize("guesses", [20, 100])
def test_canaries_that_delta_reveals_are_covered(guesses):
    """Each canary is revealed with probability delta, and otherwise in randomized response at epsilon 1."""
    delta, m, source = 0.01, 200, rng(2)
    correct = []
    for _ in range(RUNS):
        revealed = source.random(m) < delta
        right = revealed | (source.random(m) < 1 / (1 + np.exp(-1.0)))
        correct.append(right[np.argsort(~revealed, kind="stable")][:guesses].sum())
    fewest = fewest_alarming(
        lambda right: one_run_epsilon(right, guesses, m, delta=delta, confidence=CONFIDENCE), guesses, 1
    )
    assert (np.array(correct) >= fewest).mean() < 0.13


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("60-8-20")
@pytest.mark.parametrize(("m", "guesses", "runs"), [(400, 400, 1), (400, 25, 1), (60, 8, 20)])
def test_gaussian_noise_has_coverage(m, guesses, runs):
    correct, source, shift = [], rng(3), 1.0
    for _ in range(RUNS):
        included = source.random((runs, m)) < 0.5
        correct.append(best_guesses(source.normal(size=(runs, m)) + shift * included, included, guesses))
    fewest = fewest_alarming(
        lambda right: gaussian_shift_bound(right, guesses, m, runs=runs, confidence=CONFIDENCE), runs * guesses, shift
    )
    assert (np.array(correct) >= fewest).mean() < 0.13


def test_a_mechanism_that_reveals_all_canaries_at_once_is_covered():
    """The worst case for one run: a common coin decides that all canaries are guessed well, and otherwise at random.

    A canary is guessed wrongly under the coin with probability w, and correctly with probability coin - w. The smallest
    w that the trade-off function allows solves coin - w = Phi(Phi^-1(w) + mu).
    """
    shift, coin, m, source = 1.0, 0.2, 100, rng(4)
    low, high = 0.0, coin / 2
    for _ in range(60):
        wrong = (low + high) / 2
        low, high = (wrong, high) if coin - wrong > ndtr(ndtri(wrong) + shift) else (low, wrong)
    accuracy = 1 - wrong / coin
    correct = [(source.random(m) < (accuracy if source.random() < coin else 0.5)).sum() for _ in range(RUNS)]
    fewest = fewest_alarming(lambda right: gaussian_shift_bound(right, m, m, confidence=CONFIDENCE), m, shift)
    assert (np.array(correct) >= fewest).mean() < 0.13


@pytest.mark.thorough
def test_twenty_runs_are_tighter_than_one():
    """The same total number of canaries and guesses, with the expected number of correct ones."""
    m, shift = 8000, 1.0
    top = 1 - 1 / 32
    threshold = ndtri(top)
    accuracy = ndtr(shift - threshold) / (ndtr(shift - threshold) + ndtr(-threshold))
    correct = int(m / 16 * accuracy)
    one = gaussian_shift_bound(correct, m // 16, m, confidence=0.999)
    twenty = gaussian_shift_bound(correct, m // 320, m // 20, runs=20, confidence=0.999)
    assert one < twenty < shift


@pytest.mark.parametrize(("correct", "guesses", "canaries"), [(-1, 4, 4), (5, 4, 8), (1, 5, 4), (0, 0, 4)])
def test_impossible_counts_are_refused(correct, guesses, canaries):
    with pytest.raises(ValueError, match="canaries"):
        one_run_p_value(correct, guesses, canaries, epsilon=1.0)
    with pytest.raises(ValueError, match="canaries"):
        gaussian_shift_bound(correct, guesses, canaries, confidence=0.9)


def test_parameters_are_refused():
    with pytest.raises(ValueError, match="delta"):
        one_run_p_value(1, 2, 4, epsilon=1.0, delta=1.0)
    with pytest.raises(ValueError, match="epsilon"):
        one_run_p_value(1, 2, 4, epsilon=float("nan"))
    with pytest.raises(ValueError, match="confidence"):
        one_run_epsilon(1, 2, 4, confidence=1.0)
    with pytest.raises(ValueError, match="runs"):
        gaussian_shift_bound(1, 2, 4, runs=0, confidence=0.9)
