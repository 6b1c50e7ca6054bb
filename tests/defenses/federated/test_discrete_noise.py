"""Discrete Gaussian noise of secure sums: its scale, its proof, an audit."""

import numpy as np
import pytest
from epsilon_tools import told_apart

from defenses.federated import (
    PrivacyLossNoise,
)
from defenses.federated.averaging import noisy_on_grid, party_noise_parameter


def test_parts_of_discrete_noise_add_up_to_the_multiplier():
    # Beyond the stated noise by the rounding of vectors and of noise alone.
    step, length, parties = 2.0**-24, 300, 50
    part = party_noise_parameter(4.0, 0.02, length, step, parties)
    assert part * np.sqrt(parties) * step == pytest.approx(4.0 * 0.02, rel=1e-3)
    assert part * np.sqrt(parties) >= 4.0 * (0.02 / step + np.sqrt(length))
    with pytest.raises(ValueError, match="fraction_bits"):
        party_noise_parameter(0.1, 1.0, 1, 1.0, 1)
    values = np.random.default_rng(0).normal(size=(parties, 400))
    sent = noisy_on_grid(values, part, step, np.random.default_rng(1))
    np.testing.assert_array_equal(sent / step, np.rint(sent / step))
    noise = (sent - values).sum(axis=0)
    assert noise.std() == pytest.approx(4.0 * 0.02, rel=0.15)  # 400 draws: 4.2 standard errors


@pytest.mark.thorough
def test_sums_of_discrete_noise_are_discrete_noise_as_the_proof_says():
    # Two parties of the least parameter allowed; the convolution, exactly, beside one discrete Gaussian.
    part = 4 * np.sqrt(2)
    numbers = np.arange(-120, 121)

    def law(parameter, places):
        weights = np.exp(-np.square(places / parameter) / 2)
        return weights / weights.sum()

    both = np.convolve(law(part, numbers), law(part, numbers))
    wide = np.arange(-240, 241)
    one = law(part * np.sqrt(2), wide)
    near = np.abs(wide) <= 60
    np.testing.assert_allclose(both[near], one[near], rtol=1e-12)
    # And a parameter far below: not the same.
    narrow, middle = np.convolve(law(0.4, numbers), law(0.4, numbers)), slice(240 - 2, 240 + 3)
    assert np.abs(narrow[middle] / law(0.4 * np.sqrt(2), wide)[middle] - 1).max() > 1e-3
    # Rounding Gaussian noise of parameter s by a discrete Gaussian of parameter 4: sqrt(s^2 + 4^2).
    fine, spread = np.linspace(-80, 80, 40_001), 7.0
    normal = np.exp(-np.square(fine / spread) / 2)
    rows = np.exp(-np.square((numbers[:, None] - fine) / 4) / 2)
    rounded = (rows / rows.sum(axis=0)) @ (normal / normal.sum())
    expected = law(np.hypot(spread, 4), numbers)
    near = np.abs(numbers) <= 30
    np.testing.assert_allclose(rounded[near], expected[near], rtol=1e-9)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_an_audit_of_a_secure_sums_noise(share):
    # Five rounds of three parties' sums of one number; at half the noise the audit must catch it. Two audits.
    step, parties, rounds, runs, sensitivity = 2.0**-12, 3, 5, 20_000, 0.25
    multiplier = PrivacyLossNoise(epsilon=2.0, delta=1e-3).multiplier(rounds)
    part = party_noise_parameter(multiplier, sensitivity, 1, step, parties) * share
    rng = np.random.default_rng(12)
    worlds = [noisy_on_grid(np.zeros((runs, rounds * parties)), part, step, rng).sum(axis=1) for _ in range(2)]
    bound = told_apart(worlds[0] + rounds * sensitivity, worlds[1], 1e-3)
    assert 1.0 < bound <= 2.0 if share == 1 else bound > 2.0
