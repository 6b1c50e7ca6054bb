"""Values of measurements as text: exact, and closed to other classes."""

import json
import math

import numpy as np
import pytest

from defenses.ldp import CountMeanSketch
from metrics import Estimate
from scenarios.studies.emoji_measures import WordCount
from scenarios.studies.recorded_measurements import read, written

VALUES = [
    None,
    True,
    3,
    0.1 + 0.2,
    math.inf,
    -math.inf,
    "ä",
    [1, (2.5, None)],
    {2: ((1.0,),), "a": {"b": []}},
    {"float": 1, "array": 2},
    Estimate(0.5, 0.25, 0.75, 4),
    WordCount("a", 1, 2.5),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_come_back(value):
    again = read(written(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(3), np.array([[0.1, np.inf], [-0.0, 1e-300]]), np.zeros((2, 0)), np.array(["a", "b"]), np.array([True])],
    ids=str,
)
def test_arrays_come_back(array):
    again = read(written(array))
    assert again.dtype == array.dtype
    assert np.array_equal(again, array)
    assert math.isnan(read(written(math.nan)))


def test_protocols_come_back():
    protocol = CountMeanSketch(epsilon=2.0, d=9, m=16, k=4)
    assert read(written(protocol)).get_params() == protocol.get_params()


def test_other_objects_are_not_written():
    for value in (object(), {1, 2}, b"bytes", lambda: None):
        with pytest.raises(TypeError, match="cannot be stored"):
            written(value)


@pytest.mark.parametrize(
    "content",
    [
        {"named": "os:system", "items": ["true"]},
        {"named": "subprocess:Popen", "fields": {"args": "true"}},
        {"named": "metrics.columns.files:os", "items": []},
        {"named": "scenarios.commands.cli:main", "items": []},
        {"named": "scenarios.nowhere:Class", "items": []},
        {"protocol": "system", "parameters": {"pairs": []}},
        {"array": [1], "of": "float64", "shape": [2]},
        {"unknown": 1},
    ],
)
def test_damaged_texts_are_refused(content):
    with pytest.raises(ValueError):  # noqa: PT011 (each names another part)
        read(json.dumps(content))
    with pytest.raises(ValueError):  # noqa: PT011
        read("{")
