"""Hadamard response and the transform that it uses."""

import numpy as np
import pytest

from defenses.ldp import HadamardResponse
from defenses.ldp.encoding import hadamard


def test_hadamard_transform_is_the_product():
    for m in (1, 2, 16):
        matrix = 1.0 - 2 * hadamard.minus(np.arange(m)[:, None], np.arange(m))
        table = np.random.default_rng(0).normal(size=(3, m))
        assert hadamard.transform(table) == pytest.approx(table @ matrix)
        assert matrix @ matrix == pytest.approx(m * np.eye(m))


def test_hadamard_response_has_room_for_every_value():
    for epsilon in (1e-6, 0.5, 1.0, 2.0, 4.0, 12.0, 100.0):
        for d in (2, 3, 4, 7, 8, 127, 128, 1000):
            protocol = HadamardResponse(epsilon=epsilon, d=d)
            assert protocol.blocks * (protocol.block_size - 1) >= d
            reports = protocol.privatize(np.arange(d), np.random.default_rng(0))
            assert reports.parts["answer"].max() < protocol.blocks * protocol.block_size
            assert protocol.estimate(reports).shape == (d,)
