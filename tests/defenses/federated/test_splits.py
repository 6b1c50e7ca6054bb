"""Splits of records over clients."""

import numpy as np
import pytest

from defenses.federated import (
    EqualSplit,
    LabelSkewedSplit,
    UnequalSplit,
)


@pytest.mark.parametrize(
    "split",
    [EqualSplit(clients=7), UnequalSplit(clients=7, ratio=5.0), LabelSkewedSplit(clients=7, concentration=0.3)],
)
def test_splits_keep_to_their_sizes(split):
    labels = np.random.default_rng(4).integers(3, size=200)
    holder = split.assign(labels, np.random.default_rng(5))
    sizes = split.sizes(200)
    assert sizes.sum() == 200
    np.testing.assert_array_equal(np.bincount(holder, minlength=7), sizes)
    with pytest.raises(ValueError, match="empty"):
        split.sizes(6)


def test_a_split_over_one_client_is_refused():
    with pytest.raises(ValueError, match="clients"):
        EqualSplit(clients=1)


def test_skewed_labels_are_skewed_and_unequal_clients_unequal():
    labels = np.repeat([0, 1], 500)

    def spread(split):
        holder = split.assign(labels, np.random.default_rng(6))
        return np.std([labels[holder == client].mean() for client in range(10)])

    assert spread(LabelSkewedSplit(clients=10, concentration=0.5)) > 4 * spread(EqualSplit(clients=10))
    sizes = UnequalSplit(clients=10, ratio=10.0).sizes(1100)
    assert 8 < sizes.max() / sizes.min() < 12
