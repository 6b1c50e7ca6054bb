"""Privately tuned retention probabilities: noise, the bounds of the proofs, utility."""

from math import exp

import numpy as np
import pytest

from defenses.pram import expected_distance, optimal_retention, perturbation
from defenses.pram.optimal import distance_matrix, private_minimum
from defenses.pram.perturbation import (
    _changes,
    _spherical,
    noisy_histogram,
    retention_by_objective,
    retention_by_output,
)


def test_noise_on_the_histogram_is_two_sided_geometric():
    # Frequencies of 100,000 draws within 5 standard errors of their probabilities, fixed seed.
    rng = np.random.default_rng(12)
    level, counts = 0.8, np.full(100_000, 50.0)
    noisy = noisy_histogram(counts, level, rng)
    noise = np.rint(noisy - noisy.min())  # the projection shifts all counts alike while none is cut at zero
    values, seen = np.unique(noise, return_counts=True)
    centre = values[seen.argmax()]
    decay = exp(-level / 2)
    expected = 100_000 * (1 - decay) / (1 + decay) * decay ** np.abs(values - centre)
    assert (np.abs(seen - expected) <= 5 * np.sqrt(expected) + 5).all()


def test_changes_between_neighbours_are_within_the_proofs_bounds():
    rng = np.random.default_rng(13)
    for _ in range(120):
        d, n = int(rng.integers(2, 8)), int(rng.integers(1, 30))
        counts = rng.multinomial(n, rng.dirichlet(np.full(d, 0.5))).astype(float)
        other = counts.copy()
        i, j = rng.choice(np.flatnonzero(counts)), rng.integers(d)
        other[i] -= 1
        other[j] += 1
        change = distance_matrix(other / n) - distance_matrix(counts / n)
        gradient, curvature = _changes(d, n)
        assert np.abs(np.linalg.eigvalsh(change)).sum() <= curvature
        flips = rng.integers(0, 2, (200, d)).astype(float)
        assert np.linalg.norm(flips @ change, axis=1).max() <= gradient
        if n > 1 and d > 2:
            minima = [
                private_minimum(distance_matrix(c / n) + 0.3 * np.eye(d), np.full(d, -0.1), exp(1.0))
                for c in (counts, other)
            ]
            assert np.linalg.norm(minima[0] - minima[1]) <= gradient / 0.3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_noise_and_strong_convexity_are_those_of_the_proofs(monkeypatch, epsilon):
    counts = [400.0, 250.0, 150.0, 100.0, 60.0, 40.0]
    noise, convexity, slopes = [], [], []

    def spherical(d, scale, rng):
        noise.append(scale)
        return _spherical(d, scale, rng)

    def minimum(matrix, slope, ratio):
        slopes.append(slope)
        convexity.append(np.diag(matrix - distance_matrix(np.array(counts) / sum(counts))).min())
        return private_minimum(matrix, slope, ratio)

    monkeypatch.setattr(perturbation, "_spherical", spherical)
    monkeypatch.setattr(perturbation, "private_minimum", minimum)
    gradient, curvature = _changes(len(counts), sum(counts))
    retention_by_output(counts, epsilon, 1.0, np.random.default_rng(0))
    # Minima are at most G/L apart, and density e^(-|b|/scale) hides a distance of epsilon times the scale.
    assert noise.pop() == pytest.approx(gradient / convexity[0] / epsilon)
    # Regularisation pulls towards the flip probability of retention-replacement at the epsilon of the release.
    assert slopes[0] == pytest.approx(np.full(6, -convexity[0] * 5 / (exp(1.0) + 5)))
    retention_by_objective(counts, epsilon, 1.0, np.random.default_rng(0))
    # Half of epsilon hides the change G of the slope, the other half the change T of the curvature.
    assert noise.pop() == pytest.approx(gradient / (epsilon / 2))
    assert convexity[-1] == pytest.approx(curvature / (epsilon / 2))


def test_spherical_noise_has_its_law():
    # The length of b has the gamma distribution with shape d: mean d scale, variance d scale². Within 5 standard errors
    # of mean and variance.
    rng = np.random.default_rng(14)
    lengths = np.linalg.norm([_spherical(4, 0.5, rng) for _ in range(20_000)], axis=1)
    assert abs(lengths.mean() - 2.0) < 5 * 1.0 / np.sqrt(20_000)
    assert abs(lengths.var() - 1.0) < 5 * np.sqrt((6 / 4 + 3 - 1) / 20_000)


def test_perturbed_forms_come_near_the_optimum_with_many_records():
    counts = np.array([5, 4, 3, 2]) * 10**9
    best = optimal_retention(counts, 1.0)
    rng = np.random.default_rng(14)
    bound = 1.01 * expected_distance(counts, best)
    assert expected_distance(counts, optimal_retention(noisy_histogram(counts, 1.0, rng), 1.0)) <= bound
    assert expected_distance(counts, retention_by_objective(counts, 1.0, 1.0, rng)) <= bound
