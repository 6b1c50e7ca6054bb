"""The experiment `Sketches`: the lecture's numbers, and estimates beside theory and truth."""

import numpy as np
import pytest

from defenses.ldp import CountMeanSketch
from scenarios import Sketches
from scenarios.studies import sketches
from scenarios.studies import sketches as sketch_measures
from scenarios.studies.emoji_measures import WORDS
from scenarios.studies.experiment import read_experiment
from scenarios.studies.sketches import (
    MISTYPED,
    lecture_example,
    meant_words,
    measure_autoplay,
    measure_grid,
    measure_locales,
    measure_new_words,
    published_bound,
    words_section,
)


def test_the_lectures_example():
    sketch, estimate = lecture_example()
    assert sketch.tolist() == [[3, 0, 0, 0], [0, 6, 3, 0], [0, 0, 0, 0]]
    assert estimate == pytest.approx(8 / 3)


@pytest.mark.thorough
def test_errors_are_those_of_the_exact_variance_and_below_the_lectures_bound():
    cells = measure_grid(10**8, 2.0, [(64, 16), (512, 256), (2048, 1024)], 3, np.random.default_rng(0))
    for cell in cells:
        # 300 squared errors, of which collisions make some dependent.
        assert cell.error == pytest.approx(cell.theory, rel=0.5)
        assert cell.error < cell.bound
    assert [cell.error for cell in cells] == sorted((cell.error for cell in cells), reverse=True)


def test_the_published_bound_by_hand():
    protocol = CountMeanSketch(epsilon=2.0, d=2, m=4, k=3)
    c = (np.e + 1) / (np.e - 1)
    expected = (4 / 3) ** 2 * (c**2 + 1 / 4 + (36 + 16) / (10 * 3 * 4)) * 10
    assert published_bound(protocol, np.array([6, 4])) == pytest.approx(expected)


def test_locales_differ_and_are_estimated(monkeypatch):
    monkeypatch.setattr(sketch_measures, "K", 512)
    english, french = measure_locales(10**7, np.random.default_rng(1))
    for locale in (english, french):
        top = np.argsort(-locale.typed)[:5]
        assert locale.estimated[top] == pytest.approx(locale.typed[top], rel=0.1)
    assert np.argmax(english.typed) != np.argmax(french.typed)


def test_sound_is_decided_as_most_visitors_would(monkeypatch):
    monkeypatch.setattr(sketch_measures, "K", 512)
    autoplay = measure_autoplay(10**7, np.random.default_rng(2))
    # Of 30,000 visits 6,000 make the difference; the noise and collisions of two counts have a deviation of some 1,700.
    clear = (np.abs(autoplay.shares - 0.5) > 0.2) & (autoplay.visits > 30_000)
    assert clear.sum() > 10
    assert (autoplay.truly == autoplay.decided)[clear].all()


def test_typing_errors_stand_beside_the_more_frequent_word_meant():
    found = {"yolo": 900.0, "love": 700.0, "know": 600.0, "lov": 50.0, "kno": 40.0, "noob": 30.0}
    assert meant_words(found) == {"lov": "love", "kno": "know"}
    # The rarer of two similar words is the error, and equally frequent ones are both words.
    assert meant_words({"lov": 2.0, "love": 1.0}) == {"love": "lov"}
    assert meant_words({"lov": 1.0, "love": 1.0}) == meant_words({}) == {}


@pytest.mark.long
def test_the_published_typing_errors_are_discovered_and_explained():
    discovered = measure_new_words(np.random.default_rng(3))
    section = words_section(discovered)
    meant = {row[0]: row[3] for row in section.tables[0].rows}
    assert meant["lov"] == "love"
    assert meant["kno"] == "know"
    assert not meant["love"] + meant["know"] + meant["yolo"]
    # Twelve frequent words; noise lets 1 more pass in 1,000 seeds.
    assert len(discovered) == len(WORDS) + len(MISTYPED)
    assert {word: typed for word, typed, _ in discovered if word in MISTYPED} == MISTYPED


def test_report(monkeypatch):
    monkeypatch.setattr(sketch_measures, "K", 64)
    monkeypatch.setattr(sketches, "measure_new_words", lambda rng: [("yolo", 10, 11.0), ("yyyy", 0, 3.0)])
    small = Sketches(people=10**6, k=[8, 16], m=[4, 8], reports=10**5)
    first, second = (small.run(2, 1, lambda text: None) for _ in range(2))
    assert first == second
    example, grid, locales, autoplay, words = first
    assert [row[1] for row in example.tables[0].rows[:3]] == [row[2] for row in example.tables[0].rows[:3]]
    assert [row[:2] for row in grid.tables[0].rows] == [["8", "4"], ["16", "4"], ["8", "8"], ["16", "8"]]
    assert len(locales.tables) == 2
    assert (
        autoplay.tables[0].rows[-1][1] == sketch_measures.SITES == sum(row[1] for row in autoplay.tables[0].rows[:-1])
    )
    assert "1 of the 8 new words, and 1 others" in words.tables[0].note


def test_shipped_scenario_has_the_published_settings():
    plan = read_experiment("sketches")
    assert isinstance(plan.experiment, Sketches)
    assert plan.experiment.people == 10**8
    assert (sketch_measures.M, sketch_measures.K, sketch_measures.WORDS_K) == (1024, 65_536, 2048)
    assert (sketch_measures.EMOJI_EPSILON, sketch_measures.SITES_EPSILON, sketch_measures.WORDS_EPSILON) == (4, 8, 6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"people": 10}, "people"),
        ({"reports": 10**13}, "reports"),
        ({"epsilon": 0}, "epsilon"),
        ({"k": []}, "k must be a list"),
        ({"k": [0]}, "k must be"),
        ({"m": [1]}, "m must be"),
        ({"m": [100_000]}, "m must be"),
    ],
)
def test_refusals(parameters, message):
    with pytest.raises(ValueError, match=message):
        Sketches(**parameters)
