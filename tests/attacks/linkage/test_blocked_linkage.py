"""Linkage by blocking finds what the dense attack finds, states calibrated confidences and says how it searched."""

import numpy as np
import pandas as pd
import pytest
from blocking_tools import RELEASES, linked

from attacks import BlockedLinkage, ExpectationMaximizationLinkage, Knowledge, LikelihoodAssignment, NotApplicable
from attacks.linkage.blocks import answers_in_blocks
from defenses import Microdata, MicrodataRelease, Pipeline, RetentionReplacement
from defenses.perturbation.additive_noise import AdditiveNoise

SMALL = {"pairs": 240, "dense": 0}
PEOPLE = 600
"""More than the rows that are compared with all candidates."""


def attacked(method, frame, cells, others=None):
    release = MicrodataRelease(cells, np.full(len(cells), -1))
    knowledge = Knowledge(frame, Microdata(frame if others is None else others))
    return method.run(release, knowledge, np.random.default_rng(0))


@pytest.fixture(scope="module", params=[pytest.param(RELEASES[0], marks=pytest.mark.long), *RELEASES[1:]])
def case(request):
    frame, cells, truth = linked(PEOPLE, request.param)
    return frame, cells, truth, attacked(BlockedLinkage(**SMALL), frame, cells)


@pytest.mark.thorough
@pytest.mark.long_for("suppressed cells and noise")
def test_it_finds_what_the_dense_attack_finds(case):
    frame, cells, truth, claims = case
    dense = attacked(ExpectationMaximizationLinkage(), frame, cells)
    ours, theirs = ((one.best(np.random.default_rng(1)) == truth).mean() for one in (claims, dense))
    # If the search left out one candidate in twenty, it would find .95.
    assert ours >= 0.98 * theirs
    assert ours > 0.9


@pytest.mark.thorough_beyond(1)
def test_confidences_are_calibrated(case):
    *_, truth, claims = case
    rng = np.random.default_rng(1)
    first = claims.ranking(rng) == 0
    right = claims.answer[first] == truth[claims.target[first]]
    # 600 rows of which nine in ten are found: the standard error is .0122.
    assert claims.confidence[first].mean() == pytest.approx(right.mean(), abs=0.03)


def test_it_says_how_it_searched(case):
    *_, claims = case
    information, search = claims.notes
    assert "zip" in information
    assert " bits" in information
    assert "candidates were looked up by" in search
    assert "of 600 candidates" in search
    assert claims.asked is None


@pytest.fixture
def few_rows(monkeypatch):
    """Tables of more than 50 rows are searched, so that small ones show it."""
    monkeypatch.setattr(answers_in_blocks, "FEW_ROWS", 50)


@pytest.mark.thorough
@pytest.mark.long_for("noise and replacement", "suppressed cells and noise")
@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("way", RELEASES)
def test_one_seed_gives_one_result(way):
    frame, cells, _ = linked(150, way)
    claims, again = (attacked(BlockedLinkage(pairs=60, dense=0), frame, cells) for _ in range(2))
    assert "were looked up" in claims.notes[1]
    assert (again.answer == claims.answer).all()
    assert (again.confidence == claims.confidence).all()


@pytest.mark.thorough
def test_small_tables_are_compared_in_full():
    frame, cells, _ = linked(60, RELEASES[0])
    ours = attacked(BlockedLinkage(), frame, cells)
    dense = attacked(ExpectationMaximizationLinkage(), frame, cells)
    assert (ours.answer == dense.answer).all()


@pytest.mark.thorough
def test_few_rows_are_compared_with_all_candidates():
    frame, cells, truth = linked(1000, RELEASES[0])
    claims = attacked(BlockedLinkage(dense=0), frame, cells.head(300))
    assert claims.notes == ("every row was compared with all 1,000 candidates",)
    assert (claims.best(np.random.default_rng(1)) == truth[:300]).mean() > 0.9


def noisy(count):
    """People under noise and replacement whose channel is public."""
    rng = np.random.default_rng(4)
    frame, _, _ = linked(count, RELEASES[0], columns=["age", "zip", "income", "occupation"])
    records = Microdata(frame, quasi_identifiers=tuple(frame.columns))
    steps = [RetentionReplacement(retention=0.6, columns=["zip", "occupation"]), AdditiveNoise(scale=0.3)]
    truth = rng.permutation(count)
    return frame, Pipeline(steps=steps).apply(records.take(truth), rng).view(rng), truth


@pytest.mark.thorough
def test_a_channel_is_used():
    frame, release, truth = noisy(PEOPLE)
    knowledge, rng = Knowledge(frame, Microdata(frame)), np.random.default_rng
    blind = BlockedLinkage(**SMALL).run(release.without_channel(), knowledge, rng(0))
    ours = BlockedLinkage(**SMALL).run(release, knowledge, rng(0))
    dense = LikelihoodAssignment().run(release, knowledge, rng(0))
    hits = [(claims.best(rng(1)) == truth).mean() for claims in (blind, ours, dense)]
    assert hits[1] >= 0.95 * hits[2]
    assert not np.array_equal(blind.confidence, ours.confidence)
    first = ours.ranking(rng(1)) == 0
    assert ours.confidence[first].mean() == pytest.approx(hits[1], abs=0.05)


@pytest.mark.long
@pytest.mark.usefixtures("few_rows")
def test_a_table_that_cannot_be_searched_is_answered_for_a_sample(monkeypatch):
    monkeypatch.setattr(answers_in_blocks, "SAMPLED_PAIRS", 200 * 500)
    frame, cells, truth = linked(500, RELEASES[0], columns=["sex", "age", "marital"])
    claims = attacked(BlockedLinkage(pairs=5, dense=0), frame, cells)
    assert claims.asked.size == 200
    assert set(claims.target.tolist()) <= set(claims.asked.tolist())
    [note] = claims.notes
    assert "answers are about 200 of 500 released rows" in note
    assert "-p pairs=N" in note
    # Three weak columns: hardly anybody can be found, and the confidences say so.
    first = claims.ranking(np.random.default_rng(1)) == 0
    right = claims.answer[first] == truth[claims.target[first]]
    assert claims.confidence[first].mean() == pytest.approx(right.mean(), abs=0.05)


@pytest.mark.thorough
@pytest.mark.usefixtures("few_rows")
def test_more_rows_than_candidates_leave_rows_out():
    frame, cells, _ = linked(240, RELEASES[1])
    claims = attacked(BlockedLinkage(pairs=100, dense=0), frame.head(140), cells, frame)
    best = claims.best(np.random.default_rng(1))
    answered = best[best >= 0]
    assert 0 < answered.size <= 140
    assert np.unique(answered).size == answered.size


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("rows", [1, 100])
@pytest.mark.parametrize(
    "people",
    [
        pd.DataFrame({"age": [5.0] * 150, "job": ["x"] * 150}),
        pd.DataFrame({"age": [np.nan, *range(149)], "job": [None, *["x"] * 149]}),
    ],
    ids=["constant", "missing"],
)
def test_constant_columns_missing_values_and_one_row(people, rows):
    claims = attacked(BlockedLinkage(**SMALL), people, people.head(rows))
    assert np.isfinite(claims.score).all()
    assert ((claims.confidence >= 0) & (claims.confidence <= 1)).all()


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("cell", ["*", None])
def test_a_release_of_suppressed_or_missing_cells_tells_nothing(cell):
    frame, cells, _ = linked(300, RELEASES[0])
    claims = attacked(BlockedLinkage(**SMALL), frame, pd.DataFrame(dict.fromkeys(cells, [cell] * 300), dtype=object))
    assert claims.confidence.max(initial=0) < 0.05


@pytest.mark.parametrize(
    ("parameter", "value"), [("pairs", 0), ("pairs", 1.5), ("dense", -1), ("dense", "x"), ("pairs", np.nan)]
)
def test_bad_parameters_are_named(parameter, value):
    with pytest.raises(ValueError, match=parameter) as error:
        BlockedLinkage(**{parameter: value})
    assert "\n" not in str(error.value)


def test_bad_tables_are_refused_in_one_line():
    people = pd.DataFrame({"age": [1.0, 2.0], "job": ["x", "y"]})
    method = BlockedLinkage(dense=0)
    with pytest.raises(NotApplicable, match="no row"):
        attacked(method, people, people.head(0))
    with pytest.raises(ValueError, match="there are no candidates"):
        method.run(
            MicrodataRelease(people, np.full(2, -1)),
            Knowledge(people.head(0), Microdata(people)),
            np.random.default_rng(0),
        )
    with pytest.raises(ValueError, match="no column in common"):
        attacked(method, people, pd.DataFrame({"other": [1.0]}))
    with pytest.raises(ValueError, match="column 'age', row 1: the cell is no number"):
        attacked(method, people, pd.DataFrame({"age": ["1", "young"]}))
    with pytest.raises(ValueError, match="column 'job', row 0: the cell holds an unknown category"):
        attacked(method, people, pd.DataFrame({"job": ["z", "x"]}))
