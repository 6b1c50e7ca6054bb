"""Guarantees as text: guaranteed numbers with their symbols."""

import pytest

from defenses import Guarantee


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (Guarantee(), "none"),
        (Guarantee(statement="only words"), "none"),
        (Guarantee(k=5), "k=5"),
        (Guarantee(k=5, l=2.5, t=0.2), "k=5, l=2.5, t=0.2"),
        (Guarantee(epsilon=1.0, delta=0.0), "ε=1, δ=0"),
        (Guarantee(epsilon=2 / 3, delta=1e-6), "ε=0.667, δ=1e-06"),
        (Guarantee(epsilon=0.1 + 0.2), "ε=0.3"),
        (Guarantee(pk=3.0), "Pk=3"),
        # A posterior of 1 is no guarantee.
        (Guarantee(pk=1.0), "none"),
        (Guarantee(pk=1.004, k=2), "k=2"),
    ],
)
def test_guarantees_are_written_in_their_order(guarantee, text):
    assert str(guarantee) == text


def test_guarantees_of_equal_guarantees_are_equal():
    assert Guarantee(k=2) == Guarantee(k=2) != Guarantee(k=2, statement="by columns")
    assert len({Guarantee(epsilon=1.0), Guarantee(epsilon=1.0)}) == 1
