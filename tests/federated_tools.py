"""Clients with random records, for tests of federated learning."""

from defenses.federated import (
    Client,
)


def some(rng, n=7, d=5, classes=3):
    return rng.normal(size=(n, d)), rng.integers(classes, size=n)


def clients(rng, count=4, n=6, d=5):
    return [Client(*some(rng, n, d), ("a", "b", "c")) for _ in range(count)]
