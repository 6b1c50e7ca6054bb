"""Feature vectors of released rows and candidates."""

import numpy as np
import pandas as pd
import pytest

from attacks import (
    Knowledge,
)
from attacks.base.sides import encode_features, shared_columns
from defenses import (
    Microdata,
    MicrodataRelease,
)
from metrics import CategoricalDomain, NumericDomain


def test_vectors_by_hand():
    people = pd.DataFrame({"age": [20.0, 60.0, np.nan], "job": ["a", "b", None]})
    domains = {"age": NumericDomain(0, 100), "job": CategoricalDomain(("a", "b"))}
    release = MicrodataRelease(pd.DataFrame({"age": ["[20,60]"], "job": ["{a|b}"]}), np.array([-1]))
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    rows, candidates = encode_features(shared_columns(release, knowledge), standardize=True)
    half = np.sqrt(0.5)
    assert rows == pytest.approx(np.array([[0.5, 0, half / 2, half / 2, 0]]))
    assert candidates == pytest.approx(np.array([[0, 0, half, 0, 0], [1, 0, 0, half, 0], [0.5, 1, 0, 0, half]]))


def test_plain_features_by_hand():
    people = pd.DataFrame({"age": [20.0, 60.0, np.nan], "job": ["a", "b", None]})
    domains = {"age": NumericDomain(0, 100), "job": CategoricalDomain(("a", "b"))}
    release = MicrodataRelease(pd.DataFrame({"age": ["[20,60]", None], "job": ["{a|b}", "a"]}), np.array([-1, -1]))
    rows, candidates = encode_features(shared_columns(release, Knowledge(people, Microdata(people, domains=domains))))
    assert rows.tolist() == [[40, 0.5, 0.5, 0], [-101, 1, 0, 0]]
    assert candidates.tolist() == [[20, 1, 0, 0], [60, 0, 1, 0], [-101, 0, 0, 1]]
