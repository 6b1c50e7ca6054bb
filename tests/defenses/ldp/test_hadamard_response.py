"""Hadamard response and the transform that it uses."""

import numpy as np
import pytest

from defenses.ldp import HadamardResponse, ReportBatch
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


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_its_variance_is_that_of_the_exact_law_of_one_report(epsilon):
    protocol = HadamardResponse(epsilon=epsilon, d=11)
    answers = np.arange(protocol.blocks * protocol.block_size)
    reports = ReportBatch(protocol, {"answer": answers.astype(protocol.parts["answer"].dtype)})
    law = np.exp(protocol.log_likelihood(reports))
    law /= law.sum(axis=0)
    indicated = protocol.indicators(reports)
    means, squares = law.T @ indicated, law.T @ indicated**2
    assert means == pytest.approx(np.eye(11), abs=1e-9)
    shares = np.arange(11) / 55
    assert protocol.variance(3, shares) == pytest.approx(3 * shares @ (squares - means**2))
