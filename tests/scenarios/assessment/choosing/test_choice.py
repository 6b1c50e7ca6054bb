"""Whole choices on simulated plays: settings beyond the bound are confirmed as rarely as stated."""

import numpy as np
import pytest

from leaderboard import Result
from metrics import Score
from scenarios.assessment.choosing.choice import CHEAP, ROUNDS, Chooser, Round
from scenarios.assessment.choosing.portfolio import Portfolio
from scenarios.running.display import Display
from scenarios.running.plan import NamedMethod, Plan

BOUND, ABOVE, PEOPLE, SETTINGS, TABLES = 0.1, 0.001, 200, 12, 100
ALLOWED = 14
"""At the stated level of 0.05, more than this many of 100 choices are wrong with probability 0.00014."""
ATTACKS = ("LikelihoodMembership", "DistanceToClosestRecord", "DensityRatioMembership")
BEST_OF_ALL = (Round(0, 6, True), Round(1, 6, True))
"""Rounds of which only the setting that looks safest is left."""
SPREAD = 0.06
"""Standard deviation of a success rate between plays that gives a design effect of 4, the largest of real attacks."""


@pytest.fixture(autouse=True)
def few_fresh_plays(monkeypatch):
    """Twelve fresh plays at most, which saves time."""
    monkeypatch.setattr("scenarios.assessment.choosing.choice.MOST_FRESH", 12)


class SimulatedPlays(Chooser):
    """A chooser whose plays are drawn by chance instead of being played.

    Setting k has utility 1 - k / `SETTINGS`. Attack k modulo 3 has the advantage `worst` on it, and its rates deviate
    from a binomial distribution by `spread` in addition. The other attacks have no advantage.
    """

    def prepare(self, seed, worst, spread, stale):
        """Set how plays are drawn; `stale` ones confirm on the plays by which the settings were chosen."""
        self.rng, self.worst, self.spread, self.stale = np.random.default_rng(seed), worst, spread, stale
        self.drawn, self.chosen_by = {}, 0
        return self

    def _play(self, plan, deadline):
        confirms = plan.name.endswith("confirmation")
        plays = self.chosen_by if confirms and self.stale else plan.plays
        self.chosen_by = plays
        results = []
        for entry in plan.defenses:
            k = entry.parameters["k"]
            for play in range(plays):
                common = {"scenario": plan.name, "defense": entry.name, "parameters": entry.parameters, "play": play}
                results.append(Result(key="", values={"marginals": 1 - k / SETTINGS}, **common))
                for attack in plan.attacks:
                    identity = (confirms and not self.stale, k, attack.name, play)
                    if identity not in self.drawn:
                        self.drawn[identity] = self._rate(attack.name == ATTACKS[k % len(ATTACKS)])
                    scores = {"membership": Score("membership", self.drawn[identity], 0.5, PEOPLE)}
                    results.append(Result(key="", attack=attack.name, scores=scores, **common))
        return results

    def _rate(self, worst):
        """Success rate of one play of the worst attack on a setting, or of another one."""
        mean = self.rng.normal(0.5 + self.worst / 2, self.spread) if worst else 0.5
        return self.rng.binomial(PEOPLE, np.clip(mean, 0, 1)) / PEOPLE


def choices(worst, spread, rounds, *, tables=TABLES, stale=False):
    """The choices for all simulated tables."""
    defenses = tuple(NamedMethod("Mondrian", None, {"k": k}) for k in range(SETTINGS))
    attacks = tuple(NamedMethod(name, None, {}) for name in ATTACKS)
    portfolio = Portfolio(Plan("simulated", None, (), defenses, attacks, 1, 1), ())
    display = Display(quiet=True)
    return [
        SimulatedPlays(portfolio, BOUND, None, None, display, 600).prepare(seed, worst, spread, stale).choose(rounds)
        for seed in range(tables)
    ]


@pytest.mark.parametrize("budget", [0, 600])
def test_the_baseline_is_measured_and_never_recommended(budget):
    constant = NamedMethod("Constant", None, {"k": 0})
    others = tuple(NamedMethod("Mondrian", None, {"k": k}) for k in (1, 2))
    attacks = tuple(NamedMethod(name, None, {}) for name in ATTACKS)
    portfolio = Portfolio(Plan("simulated", None, (), (constant, *others), attacks, 1, 1), ())
    refused = others[0].parameters
    chooser = SimulatedPlays(
        portfolio, BOUND, None, None, Display(quiet=True), budget, lambda entry: entry.parameters == refused
    )
    choice = chooser.prepare(1, 0.0, 0.0, stale=False).choose(ROUNDS)
    assert "Constant" in {one.defense for one in choice.measured}
    # What a report would refuse is not played on fresh people.
    assert [(one.entry, one.refused, one.meets) for one in choice.finalists] == [(others[1], False, True)]
    assert choice.nearest is None


def confirming(chosen):
    """Number of choices that confirm some setting."""
    return sum(any(one.confirmed for one in choice.finalists) for choice in chosen)


def test_some_settings_are_attacked_worst_by_an_attack_of_the_late_rounds():
    assert [name in CHEAP for name in ATTACKS] == [True, True, False]


@pytest.mark.long
def test_whole_choices_rarely_confirm_a_setting_beyond_the_bound():
    chosen = choices(BOUND + ABOVE, SPREAD, ROUNDS)
    assert sum(len(choice.finalists) for choice in chosen) > TABLES
    assert confirming(chosen) <= ALLOWED


@pytest.mark.long
def test_the_best_of_many_is_rarely_confirmed_beyond_the_bound():
    assert confirming(choices(BOUND + ABOVE, 0.0, BEST_OF_ALL)) <= ALLOWED


@pytest.mark.long
def test_the_check_would_notice_that_the_plays_which_chose_also_confirm():
    assert confirming(choices(BOUND + ABOVE, 0.0, BEST_OF_ALL, stale=True)) > ALLOWED


@pytest.mark.long
def test_settings_well_within_the_bound_are_usually_confirmed():
    assert confirming(choices(0.0, SPREAD, ROUNDS, tables=40)) > 30
