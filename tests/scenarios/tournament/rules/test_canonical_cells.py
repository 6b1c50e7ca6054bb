"""Canonical cells: what is read quickly is what the grammar reads."""

import random
import re

import pytest

from metrics import NumericDomain
from scenarios.tournament.rules import canonical_cells
from scenarios.tournament.rules.canonical_cells import canonical_cell

WAYS = (lambda rng: str(rng.randint(1, 120)), lambda rng: f"{rng.uniform(0, 12000):.{rng.randint(1, 4)}f}")
ODD = ["5", "5.0", "5.10", "0.5", "007", "1e1", "٣", "5 ", "99", "99.0", "9" * 30, "0." + "3" * 90]


@pytest.mark.parametrize(
    ("domain", "decimals"),
    [
        (NumericDomain(0, 99, integer=True), 0),
        (NumericDomain(-50, 9999.5), 3),
        (NumericDomain(5, 5), 0),
        (NumericDomain(1, 1e9, integer=True), 0),
    ],
)
def test_plain_numbers_are_read_as_by_the_grammar(domain, decimals, monkeypatch):
    rng = random.Random(1)
    texts = [rng.choice(WAYS)(rng) for _ in range(60)] + ODD

    def outcome(text):
        try:
            return canonical_cells._canonical(text, domain, decimals, False)
        except ValueError as error:
            return str(error)

    quick = [outcome(text) for text in texts]
    monkeypatch.setattr(canonical_cells, "_PLAIN", re.compile("(?!)"))
    assert quick == [outcome(text) for text in texts]
    assert "5" in quick


def test_remembered_cells_depend_on_all_that_decides():
    ages, cents = NumericDomain(0, 99, integer=True), NumericDomain(0, 99)
    for _ in range(2):
        assert canonical_cell("[20,30)", ages, 0, may_miss=False) == "[20,29]"
        assert canonical_cell("[20,30)", cents, 0, may_miss=False) == "[20,30)"
        assert canonical_cell("", ages, 0, may_miss=True) is None
        with pytest.raises(ValueError, match="is empty"):
            canonical_cell("", ages, 0, may_miss=False)
        assert canonical_cell("2.5", cents, 1, may_miss=False) == "2.5"
        with pytest.raises(ValueError, match="too precise"):
            canonical_cell("2.5", cents, 0, may_miss=False)


def test_long_cells_are_not_remembered():
    before = canonical_cells._remembered.cache_info().currsize
    cell = "{" + "|".join(map(str, range(60))) + "}"
    assert canonical_cell(cell, NumericDomain(0, 99, integer=True), 0, may_miss=False) == "[0,59]"
    assert canonical_cells._remembered.cache_info().currsize == before
