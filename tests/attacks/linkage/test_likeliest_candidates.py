"""Candidate search and sparse matching of large tables agree with the full table of pairs."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge, LikelihoodAssignment
from attacks.linkage import likeliest_candidates, likelihood_assignment
from attacks.linkage.channel_factors import PairFactor, TableFactor, at_pairs, coded, total
from attacks.linkage.likeliest_candidates import LikeliestCandidates, search
from attacks.linkage.linkage_answers import one_to_one, propagated_posterior
from attacks.linkage.sparse_matching import sparse_one_to_one, sparse_posterior
from defenses import Channel, Microdata, MicrodataRelease, Pipeline, RetentionReplacement
from defenses.base.channel_parts import Likelihood
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import NumericDomain
from scenarios import load
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator

COLUMNS = ["age", "job", "marital", "education", "balance", "month", "duration", "campaign"]
NOISY = Pipeline(
    steps=[
        RetentionReplacement(retention=0.7, columns=["job", "marital", "education", "month"]),
        AdditiveNoise(scale=0.5),
    ]
)


def instance(rows, candidates):
    people = with_columns(load("bank"), COLUMNS).records
    rng = generator(1, "sparse", rows)
    people = people.take(rng.permutation(len(people))[:candidates])
    truth = rng.permutation(candidates)[:rows]
    release = NOISY.apply(people.take(truth), rng)
    return release, Knowledge(people.frame, people), truth


def parts(release, knowledge):
    domains = dict(knowledge.domains(COLUMNS))
    return list(release.channel.likelihoods(release.frame, knowledge.candidates, domains).values())


def hits(release, knowledge, truth):
    claims = LikelihoodAssignment().run(release.view(generator(0)), knowledge, generator(0))
    return (claims.best(generator(0)) == truth).mean(), claims


@pytest.mark.thorough
def test_sparse_answers_come_near_those_of_all_pairs(monkeypatch):
    release, knowledge, truth = instance(600, 1200)
    dense, full = hits(release, knowledge, truth)
    monkeypatch.setattr(likelihood_assignment, "DENSE", 0)
    sparse, kept = hits(release, knowledge, truth)
    assert sparse >= 0.97 * dense
    # 40 of 1,200 candidates are returned, and the others count as one. Membership scores differ by a few hundredths.
    assert np.abs(kept.membership.scores - full.membership.scores).mean() < 0.04
    assert np.corrcoef(kept.membership.scores, full.membership.scores)[0, 1] > 0.97
    assert kept.confidence[kept.ranking(generator(0)) == 0].mean() == pytest.approx(
        full.confidence[full.ranking(generator(0)) == 0].mean(), abs=0.02
    )


@pytest.mark.thorough
def test_blocks_find_most_of_the_likeliest_candidates(monkeypatch):
    release, knowledge, _ = instance(500, 4000)
    everybody = search(parts(release, knowledge), 500, 4000, generator(0))
    monkeypatch.setattr(likeliest_candidates, "COMPARED", 1000)
    blocks = search(parts(release, knowledge), 500, 4000, generator(0))
    best = [near.candidate[np.arange(500), near.log_likelihood.argmax(axis=1)] for near in (everybody, blocks)]
    assert (best[0] == best[1]).mean() > 0.85
    # The likelihood in other blocks is estimated within a factor of two for most rows.
    assert np.median(np.abs(everybody.elsewhere - blocks.elsewhere)) < np.log(2)
    assert all(np.unique(row).size == row.size for row in blocks.candidate)


def test_ties_between_equal_candidates_are_broken_at_random(monkeypatch):
    monkeypatch.setattr(likelihood_assignment, "DENSE", 0)
    people = pd.DataFrame({"age": [30] * 500})
    domains = {"age": NumericDomain(0, 100, integer=True)}
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    release = MicrodataRelease(people.iloc[:400].reset_index(drop=True), np.full(400, -1), Channel())
    best = LikelihoodAssignment().run(release, knowledge, generator(0)).best(generator(0))
    assert np.unique(best).size > 380


def test_rows_beyond_the_candidates_are_not_answered(monkeypatch):
    monkeypatch.setattr(likelihood_assignment, "DENSE", 0)
    release, knowledge, _ = instance(50, 60)
    few = Knowledge(knowledge.candidates.iloc[:20].reset_index(drop=True), knowledge.auxiliary)
    best = LikelihoodAssignment().run(release, few, generator(0)).best(generator(0))
    assert (best >= 0).sum() == 20
    assert np.unique(best[best >= 0]).size == 20


def test_sparse_assignment_and_posterior_of_all_candidates_are_the_dense_ones():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 3, (20, 30))
    order = np.argsort(rng.random(scores.shape), axis=1)
    near = LikeliestCandidates(order, np.take_along_axis(scores, order, axis=1), np.full(20, -np.inf))
    column = sparse_one_to_one(near, 30)
    assert order[np.arange(20), column].tolist() == one_to_one(scores).tolist()
    posterior, members = sparse_posterior(near, 30)
    dense = propagated_posterior(scores)
    assert posterior == pytest.approx(np.take_along_axis(dense, order, axis=1), abs=1e-6)
    assert members == pytest.approx(dense.sum(axis=0), abs=1e-6)


@pytest.mark.thorough
def test_coded_parts_are_exact_where_small_and_close_where_smooth():
    release, knowledge, _ = instance(300, 500)
    rows, candidates = np.arange(300), np.arange(500)
    likelihoods = parts(release, knowledge)
    exact = at_pairs(likelihoods, rows[:, None], candidates[None, :])
    found = total([coded(part) for part in likelihoods], rows, candidates)
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-3)


def test_a_smooth_part_is_read_off_representatives_and_a_sharp_one_is_not(monkeypatch):
    rng = np.random.default_rng(0)
    released, original = rng.lognormal(0, 1, 4000), rng.lognormal(0, 1, 4000)
    smooth = Likelihood((released,), (original,), lambda y, x: -((y - x) ** 2) / 0.08)
    factor = coded(smooth)
    assert isinstance(factor, TableFactor)
    assert factor.table.size < 1100**2
    rows = np.arange(400)
    near = np.abs(released[rows, None] - original[None, rows]) < 0.4
    exact = smooth.at(rows[:, None], rows[None, :])
    assert np.abs(factor.block(rows, rows) - exact)[near].max() < 0.5
    sharp = Likelihood((original,), (original,), lambda y, x: np.where(y == x, 0.0, -np.inf))
    monkeypatch.setattr("attacks.linkage.channel_factors.LARGEST", 1000)
    assert isinstance(coded(sharp), PairFactor)
    assert (coded(sharp).block(rows, rows).argmax(axis=1) == rows).all()
