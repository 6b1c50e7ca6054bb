"""The experiments `Survey` and `Emoji`, and Apple's pipeline."""

import math

import numpy as np
import pytest

from defenses.ldp import CountMeanSketch, HadamardCountMeanSketch
from scenarios import Emoji, Survey
from scenarios.studies.emoji_measures import TONES, WORDS, aggregate, emoji, ingest, send, words
from scenarios.studies.experiment import read_experiment


@pytest.mark.parametrize(("name", "kind"), [("survey", Survey), ("emoji", Emoji)])
def test_shipped_scenarios(name, kind):
    plan = read_experiment(name)
    assert plan.name == name
    assert isinstance(plan.experiment, kind)


@pytest.mark.thorough
def test_survey():
    overview, sex, job = Survey(columns=["adult.sex", "bank.job"], epsilon=[1.0, 4.0]).run(3, 1, lambda text: None)
    assert [section.title for section in (sex, job)] == ["adult.sex", "bank.job"]
    assert sex.tables[0].rows[0][0] == "BinaryRandomizedResponse"
    assert "BinaryRandomizedResponse" not in [row[0] for row in job.tables[0].rows]
    assert len(overview.tables[0].rows) == len(sex.tables[0].rows) == 12
    for section in (sex, job):
        errors, guesses = section.tables
        for row in errors.rows:
            # Of squares only 3 are independent for two values, chi-square: out of here in 7 of 10^5 rows.
            assert row[2] / 20 <= row[1] <= 2.7 * row[2]
            assert row[4] < row[2]
        for row in guesses.rows:
            assert row[2] > row[1] - 5
    assert len(sex.bars) == 2
    assert sum(sex.bars[0].outline) == 32_561


@pytest.mark.thorough
@pytest.mark.usefixtures("thousand_people")
def test_equal_seeds_equal_reports():
    survey = Survey(columns=["adult.sex"], epsilon=[1.0])
    first, second, other = (survey.run(1, seed, lambda text: None) for seed in (1, 1, 2))
    assert first == second != other


def test_emoji_population():
    records = emoji(300, 20, np.random.default_rng(0))
    assert len(records) == 6000
    assert records.domains["emoji"].size == 240
    tones, _ = records.hierarchies["emoji"].group(records.frame["emoji"], 1)
    assert np.unique(tones).size == len(TONES)
    typed = words(2000, np.random.default_rng(0))
    assert {word for word in set(typed) if typed.count(word) > 5} == set(WORDS)


def test_pipeline():
    rng = np.random.default_rng(0)
    values = np.repeat([3, 5, 7], [4000, 3000, 1000])
    emoji_sketch = CountMeanSketch(epsilon=4.0, d=50, m=64, k=32)
    sites = HadamardCountMeanSketch(epsilon=8.0, d=50, m=64, k=32)
    person = np.arange(8000) % 100
    sent = [
        send("emoji", person, values, emoji_sketch, 0.5, rng),
        send("sites", person, values, sites, 1.0, rng),
        send("emoji", person, values, emoji_sketch, 0.5, rng),
    ]
    assert abs(len(sent[0].reports) - 4000) <= 5 * np.sqrt(2000)
    assert len(sent[1].reports) == len(sent[1].person) == len(sent[1].minute) == 8000
    heaps = ingest(sent, rng)
    assert {name: len(heap) for name, heap in heaps.items()} == {"emoji": 2, "sites": 1}
    # Nothing but the reports is left, in another order.
    assert set(heaps["sites"][0].parts) == {"hash", "coordinate", "negative"}
    assert not np.array_equal(heaps["sites"][0].parts["hash"], sent[1].reports.parts["hash"])
    assert sorted(heaps["sites"][0].parts["hash"]) == sorted(sent[1].reports.parts["hash"])
    published = aggregate(heaps["sites"][0])
    assert published.values.tolist()[:2] == [3, 5]
    assert (np.diff(published.counts) <= 0).all()
    assert published.counts.min() > published.threshold > 0
    with pytest.raises(ValueError, match="empty"):
        aggregate(emoji_sketch.privatize([], rng))
    for share in (0, 1.1, math.nan):
        with pytest.raises(ValueError, match="share"):
            send("emoji", person, values, emoji_sketch, share, rng)
    with pytest.raises(ValueError, match="false_alarms"):
        aggregate(heaps["sites"][0], 0)


@pytest.mark.long
def test_emoji():
    pipeline, learned, found, pools = Emoji(epsilon=[4.0], reports=[1, 64]).run(4, 1, lambda text: None)
    histograms = learned.tables[0]
    for row in histograms.rows:
        error, theory = row[5:7]
        assert 0.8 * theory <= error <= 1.2 * theory
    assert {row[0] for row in found.tables[0].rows} == set(WORDS)
    one, many = pools.tables[0].rows
    assert many[1] >= 95 > one[1]
    assert pipeline.tables[0].rows[0][2] == 512_000


@pytest.mark.parametrize(
    ("make", "parameters", "name"),
    [
        (Survey, {"columns": []}, "columns"),
        (Survey, {"columns": "adult.age"}, "columns"),
        (Survey, {"columns": ["age"]}, "columns"),
        (Survey, {"epsilon": []}, "epsilon"),
        (Survey, {"epsilon": [0]}, "epsilon"),
        (Survey, {"epsilon": [math.nan]}, "epsilon"),
        (Emoji, {"epsilon": [math.inf]}, "epsilon"),
        (Emoji, {"epsilon": 1.0}, "epsilon"),
        (Emoji, {"reports": []}, "reports"),
        (Emoji, {"reports": [0]}, "reports"),
        (Emoji, {"reports": [65]}, "reports"),
    ],
)
def test_bad_parameters(make, parameters, name):
    with pytest.raises(ValueError, match=name):
        make(**parameters)


def test_unknown_columns():
    for column in ("adult.no such", "no such.age"):
        with pytest.raises(ValueError, match="no such"):
            Survey(columns=[column]).run(1, 1, lambda text: None)
