"""Linkage of large tables: time, peak memory and hits, beside the full table of pairs and beside recordlinkage."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import PEAK_MEMORY

from attacks import Knowledge, LikelihoodAssignment
from attacks.linkage.channel_factors import TableFactor, coded, total
from attacks.linkage.linkage_answers import one_to_one
from defenses import Microdata, Pipeline, RetentionReplacement
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import CategoricalDomain, NumericDomain
from scenarios import load
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator

PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (2, 1, 0))
COLUMNS = ["age", "job", "marital", "education", "balance", "month", "duration", "campaign"]


def bank(rows, candidates):
    """Customers under PRAM .7 and noise of half a standard deviation: release, knowledge, truth."""
    people = with_columns(load("bank"), COLUMNS).records
    rng = generator(1, "speed", rows)
    return released(people.take(rng.permutation(len(people))[:candidates]), rows, rng)


def generated(rows, candidates):
    """People of forty kinds with four numbers and four categories each, released likewise."""
    rng = generator(1, "generated", rows)
    kind = rng.integers(0, 40, candidates)
    numbers = np.round(1000 * np.exp(rng.normal(0, 0.8, (40, 4))[kind] + rng.normal(0, 1, (candidates, 4))), 1)
    frame, domains = {}, {}
    for column in range(4):
        name = f"number {column}"
        frame[name] = np.clip(numbers[:, column], 0, 1e6)
        cuts = np.unique(np.quantile(frame[name], np.linspace(0.05, 0.95, 19)))
        domains[name] = NumericDomain(0, 1e6, cuts=tuple(cuts))
    for size in (12, 30, 8, 100):
        name = f"category of {size}"
        limits = rng.dirichlet(np.full(size, 0.5), 40).cumsum(axis=1)
        codes = np.minimum((rng.random(candidates)[:, None] > limits[kind]).sum(axis=1), size - 1)
        frame[name] = np.array([f"v{code}" for code in range(size)], dtype=object)[codes]
        domains[name] = CategoricalDomain(tuple(f"v{code}" for code in range(size)))
    people = Microdata(pd.DataFrame(frame), quasi_identifiers=tuple(frame), domains=domains)
    return released(people, rows, rng)


def released(people, rows, rng):
    truth = rng.permutation(len(people))[:rows]
    categories = [name for name in people.frame if people.frame[name].dtype == object]
    steps = [RetentionReplacement(retention=0.7, columns=categories), AdditiveNoise(scale=0.5)]
    release = Pipeline(steps=steps).apply(people.take(truth), rng).view(rng)
    return release, Knowledge(people.frame, people), truth


def likelihoods(release, knowledge):
    domains = dict(knowledge.domains(list(release.frame.columns)))
    return list(release.channel.likelihoods(release.frame, knowledge.candidates, domains).values())


def measured(kind, rows, candidates):
    """Seconds, peak memory and hits of the attack in a process of its own, started from nothing."""
    code = f"""
import json, time
import numpy as np
from test_linkage_speed import {kind}, LikelihoodAssignment, generator
release, knowledge, truth = {kind}({rows}, {candidates})
started = time.perf_counter()
claims = LikelihoodAssignment().run(release, knowledge, generator(0))
seconds = time.perf_counter() - started
right = claims.best(generator(0)) == truth
peak = {PEAK_MEMORY} / 1e6
print(json.dumps(dict(seconds=seconds, gigabytes=peak, hits=float(right.mean()), right=np.flatnonzero(right).tolist())))
"""
    environment = {**os.environ, "PYTHONPATH": PATH, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.long
def test_ten_thousand_among_twenty_thousand():
    sparse = measured("bank", 10_000, 20_000)
    release, knowledge, truth = bank(10_000, 20_000)
    factors = [coded(part) for part in likelihoods(release, knowledge)]
    dense = one_to_one(total(factors, np.arange(10_000), np.arange(20_000)))
    print({name: sparse[name] for name in ("seconds", "gigabytes", "hits")}, "dense", (dense == truth).mean())
    assert sparse["seconds"] <= 20
    assert sparse["gigabytes"] <= 1.5
    assert sparse["hits"] >= 0.95 * (dense == truth).mean()


@pytest.mark.long
def test_a_hundred_thousand_among_two_hundred_thousand():
    sparse = measured("generated", 100_000, 200_000)
    release, knowledge, truth = generated(100_000, 200_000)
    sample = generator(2, "sample").permutation(100_000)[:1000]
    factors = [coded(part) for part in likelihoods(release, knowledge)]
    assert all(isinstance(factor, TableFactor) for factor in factors)
    everybody = np.arange(200_000)
    top = np.concatenate([total(factors, rows, everybody).argmax(axis=1) for rows in np.array_split(sample, 20)])
    exact, ours = (top == truth[sample]).sum(), np.isin(sample, sparse["right"]).sum()
    print({name: sparse[name] for name in ("seconds", "gigabytes", "hits")}, "sample", ours, "of exact", exact)
    assert sparse["seconds"] <= 240
    assert sparse["gigabytes"] <= 6
    assert ours >= 0.8 * exact


@pytest.mark.long
def test_ten_times_faster_than_recordlinkage_and_half_as_many_hits_again():
    release, knowledge, truth = bank(5000, 5000)
    started = time.perf_counter()
    best = LikelihoodAssignment().run(release, knowledge, generator(0)).best(generator(0))
    ours, our_hits = time.perf_counter() - started, (best == truth).mean()
    started = time.perf_counter()
    peer_hits = (recordlinkage_best(release.frame, knowledge.candidates) == truth).mean()
    peer = time.perf_counter() - started
    print(f"ours {ours:.1f} s {our_hits:.3f}, recordlinkage {peer:.1f} s {peer_hits:.3f}")
    assert peer >= 10 * ours
    assert our_hits >= 1.5 * peer_hits


def recordlinkage_best(released, candidates, chunk=100):
    """The candidate of the highest match probability for each row, by recordlinkage's comparison and ECM.

    All 25 million pairs at once would need some 14 GB: the classifier is fitted on 100 rows, and pairs are compared and
    classified by hundreds of rows.
    """
    import recordlinkage

    comparison = recordlinkage.Compare()
    numbers = {"age", "balance", "duration", "campaign"}
    for name in released.columns:
        if name in numbers:
            comparison.numeric(name, name, method="gauss", scale=float(candidates[name].std() / 2), label=name)
        else:
            comparison.exact(name, name, label=name)
    classifier = recordlinkage.ECMClassifier(binarize=0.5)

    def compared(rows):
        pairs = pd.MultiIndex.from_product([rows, candidates.index])
        return comparison.compute(pairs, released, candidates)

    classifier.fit(compared(range(0, len(released), len(released) // 100)))
    best = []
    for start in range(0, len(released), chunk):
        rows = range(start, min(start + chunk, len(released)))
        best.append(classifier.prob(compared(rows)).to_numpy().reshape(len(rows), -1).argmax(axis=1))
    return np.concatenate(best)


def test_sparse_linkage(benchmark):
    release, knowledge, truth = bank(2000, 4000)
    claims = benchmark.pedantic(LikelihoodAssignment().run, args=(release, knowledge, generator(0)), rounds=3)
    assert (claims.best(generator(0)) == truth).mean() > 0.1
    assert benchmark.stats.stats.min <= 5
