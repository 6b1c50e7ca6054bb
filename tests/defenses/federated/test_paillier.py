"""Sums under Paillier encryption."""

import builtins

import numpy as np
import pytest

from defenses.federated import (
    Paillier,
    SecureAggregation,
)


def test_paillier_keys_that_are_too_short_are_refused():
    with pytest.raises(ValueError, match="bits"):
        Paillier(bits=64)


def test_paillier_sums():
    values = np.random.default_rng(14).normal(size=(4, 9))
    secure = SecureAggregation(protocol=Paillier(bits=256))
    np.testing.assert_allclose(secure.total(values, np.random.default_rng(15)), values.sum(axis=0), atol=1e-6)


@pytest.mark.thorough
def test_paillier_plaintexts_never_overflow():
    # 31 clients need 66 bits a word, and four words 264: with all of them near the prime this is more than a third of
    # most moduli of 266 bits, beyond which the package takes numbers for negative.
    values = -np.ones((31, 7))
    secure = SecureAggregation(protocol=Paillier(bits=266))
    for seed in range(5):
        total = secure.total(values, np.random.default_rng(seed), [3])
        np.testing.assert_array_equal(total, -30.0)


def test_paillier_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name == "phe":
            raise ModuleNotFoundError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tokumei\[paillier\]'"):
        SecureAggregation(protocol=Paillier(bits=256)).total(np.ones((3, 2)), np.random.default_rng(0))
