"""Bayes: what one knows of people like the target, times what the release says of it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attributes.naive_bayes import NaiveBayes
from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, sensitive_mass
from attacks.base.sides import common_columns
from attacks.base.transition_matrix import cell_codes, column_matrix
from defenses.base.channel import Channel
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats
from metrics.domains import Domain
from metrics.profile import original_profile


class BayesInference(Attack):
    """Combines a background distribution, learned from the attacker's own people, with the target's class.

    The background is naive Bayes over public bins. The release is read through its channel: under noise, PRAM or
    swapping, rows count by their likelihood; without a channel a row counts if its cells cover the target.

    Notes
    -----
    Let the target be one of m people in a class whose sensitive values occur n(v) times, each of the others having v
    with probability q(v), independently. The values are handed out in any order, so that with p(v) the background of
    the target P(v | class) is proportional to p(v) times the number of ways to give the others what is left, which is
    p(v) (m - 1)! / prod n(u)! n(v) prod q(u)^n(u) / q(v), hence to p(v) n(v) / q(v). Over rows r with likelihoods
    L(r | x) of the target's known values x, and M(r | v) of the sensitive cell, the score is

        p(v | x) sum_r L(r | x) M(r | v) / q_r(v),

    where q_r is the mean background of the attacker's people weighted by L(r | .), with one person of the whole
    table's background added. A target that no row can stem from is answered by its background alone.

    References
    ----------
    Martin, Kifer, Machanavajjhala, Gehrke and Halpern (2007), Worst-case background knowledge; Li, Li and Zhang
    (2009), Modeling and integrating background knowledge in data anonymization (Injector).
    """

    goal: ClassVar[str] = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the most probable values."""
        known = common_columns(release, knowledge)
        name, domain, mass = sensitive_mass(release, knowledge)
        people = knowledge.auxiliary.frame
        if people.empty:
            raise NotApplicable("the attacker has no people of its own to learn a background from")
        domains = dict(knowledge.domains(known))
        study, targets = original_profile(people, domains), original_profile(knowledge.candidates, domains)
        labels = np.eye(domain.size + 1)[domain.codes(people[name])][:, :-1]
        background = NaiveBayes.fit(study, labels)
        own, others = background.posterior(targets), background.posterior(study)
        of_target = _likelihood(release, knowledge.candidates[known], domains)
        of_others = _likelihood(release, people[known], domains)
        expected = (of_others @ others + background.prior) / (of_others.sum(axis=1, keepdims=True) + 1)
        evidence = of_target.T @ (_sensitive_likelihood(release, name, domain, mass) / expected)
        silent = evidence.sum(axis=1) == 0
        return claims_from_scores(own * np.where(silent[:, None], 1.0, evidence), name, domain)


def _likelihood(release: MicrodataRelease, people: pd.DataFrame, domains: dict[str, Domain]) -> Floats:
    """Likelihood of each released row under each person's known values, its largest per person 1; (rows, people)."""
    parts = () if release.channel is None else release.channel.parts
    known = Channel(tuple(part for part in parts if set(part.columns) <= set(people.columns)))
    joint = [name for part in parts if part not in known.parts for name in part.columns if name in people.columns]
    if joint:
        raise NotApplicable(f"the channel releases column {joint[0]!r} jointly with one that is not known")
    log = np.zeros((len(release.frame), len(people)))
    for likelihood in known.likelihoods(release.frame[list(people.columns)], people, domains).values():
        log += likelihood.table()
    best = log.max(axis=0)
    weights: Floats = np.exp(log - np.where(np.isfinite(best), best, 0.0))
    return weights


def _sensitive_likelihood(release: MicrodataRelease, name: str, domain: Domain, mass: Floats) -> Floats:
    """Likelihood of each released row's sensitive cell under each value, shape (rows, d)."""
    if release.channel is not None and name in release.channel.columns:
        try:
            return column_matrix(release.channel, name, domain)[cell_codes(release.frame[name], domain)]
        except NotApplicable:
            pass  # No matrix of the column's own: its cells then say what they cover.
    return (mass > 0).astype(float)
