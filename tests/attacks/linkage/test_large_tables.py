"""Linkage of more pairs than one table holds: rows are compared in chunks or in blocks, and answers hardly change."""

import numpy as np
import pytest
from test_several_rows import with_typing_errors

from attacks import (
    AssignmentLinkage,
    EnsembleLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    GroupLinkage,
    NearestNeighbour,
    RankedAnswers,
)
from attacks.base.sides import gower_distance, shared_columns
from attacks.linkage import sparse_matching
from attacks.linkage.sparse_matching import nearest_candidates
from defenses import MicrodataRelease
from scenarios.tables.seeds import generator

MODULES = {
    AssignmentLinkage: "assignment_linkage",
    NearestNeighbour: "nearest_neighbour",
    ExpectationMaximizationLinkage: "expectation_maximization_linkage",
    GroupLinkage: "group_linkage",
    EnsembleLinkage: "ensemble_linkage",
    FellegiSunter: "fellegi_sunter",
}


def large(monkeypatch, attack):
    """Let even small tables count as too large for this attack."""
    for kind in {attack, ExpectationMaximizationLinkage}:
        monkeypatch.setattr(f"attacks.linkage.{MODULES[kind]}.TABLE", 0)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("attack", MODULES)
def test_hits_and_confidences_are_those_of_the_full_table(monkeypatch, attack):
    # 120 rows: most are found by both. The searches differ where noise leaves a row several likely candidates.
    release, knowledge, origin = with_typing_errors(120, 200, 0.2, 3, copies=False)
    whole = attack().run(release, knowledge, generator(3))
    large(monkeypatch, attack)
    claims = attack().run(release, knowledge, generator(3))
    right = [(one.best(generator(0)) == origin).mean() for one in (whole, claims)]
    assert right[1] >= right[0] - 0.03
    assert (claims.confidence is None) == (whole.confidence is None)
    if claims.confidence is not None:
        stated = [one.confidence[one.ranking(generator(0)) == 0].mean() for one in (whole, claims)]
        assert stated[1] == pytest.approx(stated[0], abs=0.05)
    if attack in (AssignmentLinkage, FellegiSunter):
        best = claims.best(generator(0))
        assert np.unique(best).size == best.size


@pytest.mark.parametrize("attack", [AssignmentLinkage, FellegiSunter, NearestNeighbour])
def test_a_note_says_that_few_candidates_of_each_row_were_kept(monkeypatch, attack):
    release, knowledge, _ = with_typing_errors(20, 60, 0.1, 4, copies=False)
    large(monkeypatch, attack)
    [note] = attack().run(release, knowledge, generator(4)).notes
    assert "compared with all 60 candidates in chunks; the 40 likeliest of each were kept" in note


@pytest.mark.parametrize("attack", [AssignmentLinkage, FellegiSunter, NearestNeighbour])
@pytest.mark.parametrize(("rows", "count"), [(0, 5), (1, 1), (7, 3)])
def test_small_tables_in_chunks(monkeypatch, attack, rows, count):
    release, knowledge, _ = with_typing_errors(rows, count, 0.0, 5)
    large(monkeypatch, attack)
    claims = attack().run(release, knowledge, generator(5))
    assert (claims.targets, claims.answers) == (rows, count)


@pytest.mark.parametrize("held", [True, False])
def test_the_nearest_candidates_are_those_of_the_full_distance(monkeypatch, held):
    release, knowledge, _ = with_typing_errors(50, 200, 0.3, 6)
    monkeypatch.setattr(sparse_matching, "LARGEST_TABLE", 2**25 if held else 0)
    monkeypatch.setattr("attacks.linkage.likeliest_candidates.CHUNK_PAIRS", 7 * 200)
    columns = shared_columns(release, knowledge)
    near = nearest_candidates(columns, 100.0, generator(6))
    distance = gower_distance(columns)
    found = np.take_along_axis(distance, near.candidate, axis=1)
    # Ties are broken by a random number of at most .001.
    assert near.log_likelihood == pytest.approx(-100 * found, abs=0.0011)
    assert np.sort(found, axis=1) == pytest.approx(np.sort(distance, axis=1)[:, :40])


def test_confidences_of_given_pairs_are_those_of_the_answers(monkeypatch):
    release, knowledge, _ = with_typing_errors(60, 80, 0.1, 7, copies=False)
    attack = ExpectationMaximizationLinkage()
    large(monkeypatch, ExpectationMaximizationLinkage)
    claims = RankedAnswers.of(attack.run(release, knowledge, generator(7)))
    rows, candidates = claims.target[::-1], claims.answer[::-1]
    stated = attack.confidences(release, knowledge, rows, candidates, generator(7))
    assert stated == pytest.approx(claims.confidence[::-1])
    unlikely = np.setdiff1d(np.arange(80), claims.answer[claims.target == 0])[:1]
    assert attack.confidences(release, knowledge, np.zeros(1, dtype=int), unlikely, generator(7)) == 0


def test_a_million_pairs_are_not_searched_in_chunks():
    release, knowledge, _ = with_typing_errors(20, 60, 0.1, 8, copies=False)
    claims = AssignmentLinkage().run(MicrodataRelease(release.frame, release.origin), knowledge, generator(8))
    assert not hasattr(claims, "notes")
