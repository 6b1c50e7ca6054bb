"""A budget spent in rounds: exact costs, and nothing is left at the end."""

from fractions import Fraction

import pytest

from defenses.synthetic.adaptive_iterative_mechanism import AnnealedBudget


def test_rounds_spend_everything_exactly():
    budget = AnnealedBudget(Fraction(1, 3), 20)
    budget.spend_counts(5)
    spent = 5 / budget.variance
    rounds = 0
    while budget.remaining > 0:
        budget.start_round()
        spent += 1 / budget.variance + Fraction(budget.epsilon) ** 2 / 8
        share = budget.share_after_round
        budget.spend_round()
        assert share == 1 - budget.remaining / budget.total
        rounds += 1
        if rounds == 3:
            budget.anneal()
    assert budget.remaining == 0
    assert share == 1
    assert float(spent) == pytest.approx(1 / 3, rel=1e-12)
    # 15.5 rounds are left after the counts: three at first cost, the rest at four times it.
    assert rounds == 3 + 3


def test_annealing_halves_the_noise_and_doubles_epsilon():
    budget = AnnealedBudget(Fraction(1), 100)
    variance, epsilon = budget.variance, budget.epsilon
    budget.anneal()
    assert budget.variance * 4 == variance
    assert budget.epsilon == pytest.approx(2 * epsilon)
