"""The board of the shipped scenario agrees with what is known of it; minutes, hence `-m long`."""

import csv
import io
import subprocess

import numpy as np
import pytest
from run_tools import COMMAND, ROOT, environment
from scipy import stats

from attacks import (
    AssignmentLinkage,
    EnsembleLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    GroupLinkage,
    LikelihoodAssignment,
    NearestNeighbour,
    NotApplicable,
)
from defenses import Identity, Microaggregation, Pipeline, RetentionReplacement
from defenses.perturbation.additive_noise import AdditiveNoise
from leaderboard.results.store import Store
from scenarios import CandidateFile, load
from scenarios.tables.seeds import generator

DECOYS = ("random", "hard")
pytestmark = pytest.mark.long


def tokumei(folder, *arguments):
    command = [*COMMAND, *arguments, "--format", "csv"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    return tokumei(folder, "run", "-j", "2"), tokumei(folder, "board", "--matrix")


def line(board, decoys, defense, parameters="{}"):
    (found,) = (
        row for row in board if (row["decoys"], row["defense"], row["parameters"]) == (decoys, defense, parameters)
    )
    return {
        name: float(found[name]) for name in ("utility", "success", "success_low", "success_high", "chance", "score")
    }


def rows_found(matrix, decoys, defense, attack):
    (rate,) = {
        float(row["reidentification"])
        for row in matrix
        if (row["decoys"], row["defense"], row["attack"]) == (decoys, defense, attack)
    }
    return rate


@pytest.mark.parametrize("decoys", DECOYS)
def test_identity_is_found_and_constants_are_not(played, decoys):
    board, matrix = played
    identity, constant = line(board, decoys, "Identity"), line(board, decoys, "Constant")
    assert identity["success"] >= 0.99
    assert identity["utility"] == 1
    assert constant["utility"] == 0
    assert constant["success_low"] <= constant["chance"] <= constant["success_high"]
    attacks = {row["attack"] for row in matrix}
    assert len(attacks) == 6
    assert min(rows_found(matrix, decoys, "Identity", attack) for attack in attacks) >= 0.99


@pytest.mark.parametrize("decoys", DECOYS)
def test_less_retention_is_safer_and_worth_less(played, decoys):
    board, _ = played
    steps = [line(board, decoys, "RetentionReplacement", f'{{"retention":{p}}}') for p in (0.9, 0.7, 0.5, 0.3, 0.1)]
    for name in ("success", "utility"):
        values = [step[name] for step in steps]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[-1] + 0.3


EVERYTHING = """
[[attack]]
use = "EnsembleLinkage"

[[attack]]
use = "LearnedLinkage"
"""
PLAYS = 30
# Which attack extends which: better ideas on the same ground, never to find significantly less. FellegiSunter extends
# none of them; its docstring says where it falls behind.
EXTENDED = (
    ("AssignmentLinkage", "NearestNeighbour"),
    ("LikelihoodAssignment", "AssignmentLinkage"),
    ("LikelihoodAssignment", "ExpectationMaximizationLinkage"),
    ("ExpectationMaximizationLinkage", "AssignmentLinkage"),
    ("GroupLinkage", "NearestNeighbour"),
    ("GroupLinkage", "LikelihoodAssignment"),
    ("GroupLinkage", "ExpectationMaximizationLinkage"),
    ("EnsembleLinkage", "NearestNeighbour"),
    ("EnsembleLinkage", "ExpectationMaximizationLinkage"),
    ("LearnedLinkage", "NearestNeighbour"),
)
# What docstrings admit: where rows are equal in groups, one-to-one answers push all but one away.
ADMITTED = {
    ("AssignmentLinkage", "NearestNeighbour", "Microaggregation"),
    ("LearnedLinkage", "NearestNeighbour", "Microaggregation"),
}
# A wrong alarm in one of a hundred runs, were all attacks equally strong: 18 defenses whose rows have an origin, two
# kinds of decoys, ten pairs. Nine pairs in ten are caught that lose .04 where differences of plays deviate by .035.
ALARM = 0.01 / (18 * 2 * len(EXTENDED))


@pytest.fixture(scope="module")
def strength(tmp_path_factory):
    """Share of rows found in each play by each attack, by decoys, defense and its parameters."""
    folder = tmp_path_factory.mktemp("strength")
    shipped = (ROOT / "scenarios" / "library" / "bank.toml").read_text()
    (folder / "strength.toml").write_text(shipped + EVERYTHING)
    command = [*COMMAND, "run", "strength.toml", "--plays", str(PLAYS), "-j", "2", "--quiet"]
    subprocess.run([*command, "--db", "strength.db"], cwd=folder, env=environment(), capture_output=True, check=True)
    return found_in(folder / "strength.db")


def found_in(database):
    found = {}
    with Store(database) as store:
        trials = [result for result in store.results() if result.attack and result.status == "ok"]
    for trial in sorted(trials, key=lambda trial: trial.play):
        rate = trial.scores["reidentification"].rate
        if rate is not None:
            which = trial.game["decoys"], trial.defense, str(trial.parameters)
            found.setdefault(which, {}).setdefault(trial.attack, []).append(rate)
    return {which: {name: np.array(rates) for name, rates in rows.items()} for which, rows in found.items()}


def significantly_less(better, base, alarm=ALARM):
    """Whether one attack finds fewer rows than another in the same plays, by Student's paired test."""
    difference = better - base
    if difference.std() == 0:
        return difference.mean() < 0
    return stats.ttest_1samp(difference, 0, alternative="less").pvalue < alarm


def test_the_comparison_catches_an_attack_that_loses_a_thirtieth(strength):
    rates = strength["random", "RetentionReplacement", "{'retention': 0.5}"]["LikelihoodAssignment"]
    rng = np.random.default_rng(0)
    assert significantly_less(rng.binomial(100, np.clip(rates - 1 / 30, 0, 1)) / 100, rates, alarm=0.05)
    assert not significantly_less(rates, rates)


def test_every_defense_was_played_by_every_attack(strength):
    assert len(strength) == 2 * 18
    assert {len(rates) for rates in strength.values()} == {8}
    assert {rate.size for rates in strength.values() for rate in rates.values()} == {PLAYS}


def test_no_attack_falls_below_what_it_extends(strength):
    fallen = [
        (which, attack, base)
        for which, rates in strength.items()
        for attack, base in EXTENDED
        if (attack, base, which[1]) not in ADMITTED and significantly_less(rates[attack], rates[base])
    ]
    assert not fallen


def test_the_best_attack_is_at_or_above_all_references(strength):
    # Each of the four is played as well; the best is one that is not below any of them in the same plays.
    references = ("NearestNeighbour", "AssignmentLinkage", "LikelihoodAssignment", "ExpectationMaximizationLinkage")
    for which, rates in strength.items():
        strongest = max(("GroupLinkage", "LikelihoodAssignment"), key=lambda name: rates[name].mean())
        for name in references:
            assert not significantly_less(rates[strongest], rates[name]), (which, strongest, name)


@pytest.mark.parametrize("decoys", DECOYS)
def test_all_attacks_find_a_copy_and_none_a_constant(strength, decoys):
    for rates in strength[decoys, "Identity", "{}"].values():
        assert rates.mean() >= 0.99
    for rates in strength[decoys, "Constant", "{}"].values():
        # Rows of one play are not independent, plays are; one wrong alarm in a hundred runs of 16 comparisons.
        assert stats.ttest_1samp(rates, 1 / 200).pvalue > 0.01 / 16


@pytest.mark.parametrize("decoys", DECOYS)
def test_groups_hide_all_but_one_of_equal_rows(strength, decoys):
    """Of g equal rows one is found at most on average, so that distinct rows bound what any attack can find."""
    distinct = []
    for number in range(PLAYS):
        people = load("bank").records.take(generator(9, number).permutation(45000)[:100])
        release = Microaggregation(k=5).apply(people, generator(9, number))
        distinct.append(len(release.frame.drop_duplicates()) / len(release.frame))
    (rates,) = (rates for which, rates in strength.items() if which[:2] == (decoys, "Microaggregation"))
    best = max(rates.values(), key=np.mean)
    assert stats.ttest_ind(best, distinct, alternative="greater").pvalue > 0.01


ATTACKS = (
    NearestNeighbour(),
    AssignmentLinkage(),
    LikelihoodAssignment(),
    ExpectationMaximizationLinkage(),
    FellegiSunter(),
    GroupLinkage(),
    EnsembleLinkage(),
)


def rates(defense, game, attacks=ATTACKS, plays=30):
    """Share of rows found by each attack, shape (plays,) each; attacks that do not fit are left out."""
    found = {type(attack).__name__: [] for attack in attacks}
    for number in range(plays):
        secret = game.draw(generator(30, "draw", number))
        release = game.publish(defense.apply(secret.records, generator(30, "release", number)), generator(30, number))
        for attack in attacks:
            name = type(attack).__name__
            try:
                claims = attack.run(
                    game.view(release, generator(0)), game.knowledge(secret, defense), generator(30, name, number)
                )
            except NotApplicable:
                continue
            scores = game.score(secret, release, claims, generator(30, "score", number))
            found[name].append(scores["reidentification"].rate)
    return {name: np.array(values) for name, values in found.items() if values}


def perturbed(retention, scale):
    """PRAM on categories and noise on numbers of Adult."""
    frame = load("adult").records.frame
    text = [name for name in frame if frame[name].dtype == object]
    numbers = [name for name in frame if name not in text]
    steps = [RetentionReplacement(retention=retention, columns=text)]
    return Pipeline(steps=[*steps, AdditiveNoise(scale=scale, columns=numbers)] if scale else steps)


# Greedy Gower, Hungarian Gower, mechanism-aware likelihood and EM, percent, measured elsewhere on eleven attributes.
ADULT = {
    "a copy": (Identity(), (100, 100, 100, 100)),
    "groups of five": (Microaggregation(k=5), (14, 9, 9, 11)),
    "PRAM .7": (perturbed(0.7, 0), (80, 80, 99, 98)),
    "PRAM .7, noise .5": (perturbed(0.7, 0.5), (68, 70, 76, 72)),
    "PRAM .3, noise 1": (perturbed(0.3, 1.0), (16, 15, 22, 14)),
    "PRAM .1, noise 2": (perturbed(0.1, 2.0), (2.6, 2.4, 3.6, 2.9)),
}


@pytest.mark.parametrize("name", ADULT)
def test_on_adult_the_best_attack_is_as_strong_as_references(name):
    defense, references = ADULT[name]
    found = rates(defense, CandidateFile(records=load("adult").records))
    best = max(found.values(), key=np.mean)
    # Two standard errors over 30 plays, ours and theirs.
    error = 2 * np.sqrt(2) * best.std(ddof=1) / np.sqrt(best.size)
    assert best.mean() >= max(references) / 100 - error
