"""Baseline of attribute inference without control people: the values that other records predict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks import BayesInference, ClassifierInference, MajorityInClass, NotApplicable
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from defenses.base.defense import released_frame
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats, Integers
from scenarios.assessment.evaluation.evaluation_setting import AUXILIARY, EvaluationSetting
from scenarios.games.questions.attribute_question import successes
from scenarios.tables.seeds import generator

LEARNED = 20_000
"""Largest number of records that the baseline learns from."""
BASELINES: tuple[Attack, ...] = (BayesInference(), ClassifierInference(), MajorityInClass())


def baseline_successes(setting: EvaluationSetting, column: str, targets: int) -> Floats:
    """Probability that the baseline infers each target's value, shape (targets,).

    The baseline learns from the other records in the clear, which say nothing about the targets themselves. Whatever it
    infers follows from statistics of the population. Of `BASELINES` and the most frequent value, the one that infers
    most targets' values counts. An advantage over it is therefore rather too small than too large.

    Parameters
    ----------
    setting : EvaluationSetting
        The original records.
    column : str
        The column whose values are inferred.
    targets : int
        Number of targets.
    """
    return setting.kept(f"baseline of {column}", targets, lambda: _learned(setting, column, targets))


def _learned(setting: EvaluationSetting, column: str, targets: int) -> Floats:
    people = setting.members(targets)
    rest = with_first_sensitive(setting.rest(targets), column)
    rest = rest.take(np.arange(min(LEARNED, len(rest))))
    truth = true_codes(people, column)
    codes = true_codes(rest, column)
    size = people.domains[column].size
    if not (codes < size).any():
        return np.zeros(len(people))
    best: Floats = (truth == np.bincount(codes[codes < size]).argmax()).astype(float)
    release = MicrodataRelease(released_frame(rest), np.full(len(rest), -1))
    knowledge = Knowledge(people.frame[list(people.quasi_identifiers)], rest.take(np.arange(min(AUXILIARY, len(rest)))))
    for attack in BASELINES:
        rng = generator(setting.seed, "rank", "baseline", column, type(attack).__name__)
        try:
            claims = attack.run(release.view(rng), knowledge, rng)
        except NotApplicable:
            continue
        correct = inferred(claims, people, column, truth)
        best = max(best, correct, key=lambda values: float(values.sum()))
    return best


def inferred(claims: object, people: Microdata, column: str, truth: Integers) -> Floats:
    """Probability that each person's value is inferred, shape (people,); 0 where the true value is missing."""
    if not isinstance(claims, ValueClaims):
        raise TypeError(f"attribute inference makes claimed values, got {type(claims).__name__}")
    domain = people.domains[column]
    return np.where(truth < domain.size, successes(claims, column, domain, truth)[0], 0.0)


def true_codes(people: Microdata, column: str) -> Integers:
    """Category or bin of each person's value, shape (people,); the domain's size where it is missing."""
    return people.domains[column].codes(people.frame[column])


def with_first_sensitive(people: Microdata, column: str) -> Microdata:
    """The same people with a sensitive column as the first one, which attacks infer."""
    return replace(people, sensitive=(column, *(name for name in people.sensitive if name != column)))
