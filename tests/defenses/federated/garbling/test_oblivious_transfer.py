"""Oblivious transfer gives the chosen label, and only that one."""

import numpy as np
import pytest
from nacl import bindings

from defenses.federated import AggregationError
from defenses.federated.garbling import comparisons as oblivious_transfer
from defenses.federated.garbling.comparisons import _encrypted, _key, _masked, _scalar, transfer
from defenses.federated.garbling.gates import random_labels


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 31, 128, 129, 1000])
def test_the_chosen_labels_arrive(count):
    rng = np.random.default_rng(count)
    zeros, ones = random_labels((2, count), rng)
    choices = rng.random(count) < 0.5
    outcome = transfer(zeros, ones, choices, rng)
    assert (outcome.received == np.where(choices[:, None], ones, zeros)).all()
    assert outcome.sent
    assert outcome.answered or not count


def test_only_one_of_four_messages_opens():
    rng = np.random.default_rng(0)
    zeros, ones = random_labels((2, 2), rng)
    secret = _scalar(bindings, rng)
    offered = bindings.crypto_scalarmult_ed25519_base_noclamp(secret)
    shift = bindings.crypto_scalarmult_ed25519_noclamp(secret, offered)
    blinding = _scalar(bindings, rng)
    # Choice 2: the first label of 0, the second of 1.
    twice = bindings.crypto_core_ed25519_add(offered, offered)
    point = bindings.crypto_core_ed25519_add(bindings.crypto_scalarmult_ed25519_base_noclamp(blinding), twice)
    messages = _encrypted(bindings, secret, shift, offered, point, 0, zeros, ones)
    key = _key(bindings.crypto_scalarmult_ed25519_noclamp(blinding, offered), offered, point, 0)
    possible = [
        pair.astype("<u8").tobytes()
        for pair in (np.stack([a, b]) for b in (zeros[1], ones[1]) for a in (zeros[0], ones[0]))
    ]
    assert [_masked(message, key) == text for message, text in zip(messages, possible, strict=True)] == [
        False,
        False,
        True,
        False,
    ]


def test_the_receivers_points_do_not_depend_on_its_choice_alone():
    # The same blinding with another choice is another point, and a fresh blinding makes every point uniform: over many
    # runs the lowest bit of the point is a coin for either choice (5 standard deviations, false alarms below 1e-5).
    rng = np.random.default_rng(3)
    offered = bindings.crypto_scalarmult_ed25519_base_noclamp(_scalar(bindings, rng))
    points = [bindings.crypto_scalarmult_ed25519_base_noclamp(_scalar(bindings, rng)) for _ in range(500)]
    shifted = [bindings.crypto_core_ed25519_add(point, offered) for point in points]
    for seen in (points, shifted):
        share = np.mean([point[0] & 1 for point in seen])
        assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(len(seen))


@pytest.mark.parametrize("point", [b"\x01" + 31 * b"\x00", 32 * b"\xff", 32 * b"\x02"])
def test_points_off_the_group_are_refused(point):
    rng = np.random.default_rng(0)
    zeros, ones = random_labels((2, 2), rng)
    secret = _scalar(bindings, rng)
    offered = bindings.crypto_scalarmult_ed25519_base_noclamp(secret)
    with pytest.raises(AggregationError, match="not on the curve"):
        _encrypted(bindings, secret, offered, offered, point, 0, zeros, ones)


def test_the_extension_needs_no_more_curve_arithmetic(monkeypatch):
    calls = []
    real = oblivious_transfer._by_curve
    monkeypatch.setattr(oblivious_transfer, "_by_curve", lambda *given: calls.append(len(given[2])) or real(*given))
    rng = np.random.default_rng(0)
    zeros, ones = random_labels((2, 5000), rng)
    transfer(zeros, ones, np.zeros(5000, dtype=bool), rng)
    assert calls == [128]
