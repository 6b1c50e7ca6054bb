"""Every linkage attack links texts of any script and length, and columns that tell nothing or everything."""

import numpy as np
import pandas as pd
import pytest

import attacks
from attacks import Knowledge, NotApplicable, RankedAnswers
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain
from scenarios.tables.seeds import generator

COUNT = 12
TEXTS = {
    "empty and one character": ["", *"abcdefghijk"],
    "10,000 characters": [letter * 10_000 for letter in "abcdefghijkl"],
    "emoji": [chr(0x1F600 + 3 * number) * (1 + number % 3) for number in range(COUNT)],
    "right to left": ["محمد", "أحمد", "فاطمة", "עמית", "נועה", "דוד", "مريم", "יעל", "علي", "חנה", "سارة", "רון"],
    "numbers as text": [f"{number * 37 % 100:03}" for number in range(COUNT)],
    "combining marks": [f"e\u0301{letter}" for letter in "abcdefghijkl"],
    "all equal": ["same"] * COUNT,
}
LINKAGE = (
    attacks.NearestNeighbour(),
    attacks.AssignmentLinkage(),
    attacks.FellegiSunter(),
    attacks.ExpectationMaximizationLinkage(),
    attacks.BlockedLinkage(),
    attacks.GroupLinkage(),
    attacks.EnsembleLinkage(),
    attacks.LinkageMembership(),
    attacks.SweeneyJoin(),
)


def linked(attack, texts, released, released_numbers):
    """Claims about rows of a text and a number, in the candidates' order."""
    people = pd.DataFrame({"text": pd.Series(texts, dtype=object), "number": np.arange(len(texts))})
    rows = pd.DataFrame({"text": pd.Series(released, dtype=object), "number": released_numbers})
    domains = {"text": CategoricalDomain(tuple(dict.fromkeys([*texts, *released])))}
    knowledge = Knowledge(people, Microdata(people, quasi_identifiers=("text", "number"), domains=domains))
    return attack.run(MicrodataRelease(rows, np.full(len(rows), -1)), knowledge, generator(0))


@pytest.mark.thorough_beyond(len(LINKAGE))
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("attack", LINKAGE, ids=lambda one: type(one).__name__)
def test_a_copy_is_linked(attack, name):
    """All find each row by its number, if not by its text; one column misleads the weights of Fellegi and Sunter."""
    try:
        claims = linked(attack, TEXTS[name], TEXTS[name], np.arange(COUNT))
    except NotApplicable:
        assert isinstance(attack, attacks.SweeneyJoin)
        return
    if isinstance(claims, RankedAnswers):
        found = (claims.best(generator(1)) == np.arange(COUNT)).mean()
        weighed = isinstance(attack, attacks.FellegiSunter)
        assert found >= (0.5 if weighed and name == "all equal" else 1)
    else:
        assert np.isfinite(claims.scores).all()


@pytest.mark.parametrize("attack", LINKAGE, ids=lambda one: type(one).__name__)
def test_no_value_is_equal(attack):
    """Nothing is known, so that any answer may stand, or none."""
    try:
        claims = linked(attack, [*"abcdefghijkl"], [*"ABCDEFGHIJKM"], np.arange(COUNT) + 1000)
    except NotApplicable:
        assert isinstance(attack, attacks.SweeneyJoin)
        return
    if isinstance(claims, RankedAnswers):
        assert claims.confidence is None or (claims.confidence <= 1).all()
