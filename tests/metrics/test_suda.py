"""Minimal sample uniques and SUDA scores."""

from __future__ import annotations

from itertools import chain, combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import minimal_sample_uniques, suda_scores
from metrics.suda import minimal_unique_sets


def minimal_uniques_one_by_one(frame: pd.DataFrame, max_size: int) -> dict[tuple[str, ...], set[int]]:
    names = list(frame.columns)
    found: dict[tuple[str, ...], set[int]] = {}
    for row in range(len(frame)):
        minimal: list[tuple[str, ...]] = []
        for part in chain.from_iterable(combinations(names, size) for size in range(1, max_size + 1)):
            alike = (frame[list(part)] == frame[list(part)].iloc[row]).all(axis=1).sum()
            if alike == 1 and not any(set(small) < set(part) for small in minimal):
                minimal.append(part)
                found.setdefault(part, set()).add(row)
    return found


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_minimal_sample_uniques_and_scores(n: int, m: int, max_size: int, seed: int) -> None:
    frame = pd.DataFrame(np.random.default_rng(seed).integers(0, 3, (n, m)), columns=list("abcd")[:m])
    expected = minimal_uniques_one_by_one(frame, max_size)
    found = {part: set(rows.tolist()) for part, rows in minimal_sample_uniques(frame, list(frame), max_size=max_size)}
    assert found == expected
    scores = np.zeros(n)
    for part, rows in expected.items():
        largest = min(max_size, m - 1)
        scores[list(rows)] += np.prod([m - i for i in range(len(part), largest + 1)]) if len(part) < m else 1
    np.testing.assert_allclose(suda_scores(frame, list(frame), max_size=max_size), scores)


def test_scores_by_hand() -> None:
    frame = pd.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2], "c": [1, 2, 1, 1], "d": [1, 1, 1, 1]})
    # Row 3 is the only a = 2, row 1 the only c = 2; row 2 needs a and b, and row 0 b and c.
    assert suda_scores(frame, list("abcd")).tolist() == [2, factorial(3), 2, factorial(3)]
    assert suda_scores(frame, list("abcd"), max_size=1).tolist() == [0, 3, 0, 3]
    assert suda_scores(frame, ["d"]).tolist() == [0] * 4


def test_scores_refuse() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    for size in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="max_size"):
            suda_scores(frame, ["a"], max_size=size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="named once"):
        suda_scores(frame, ["a", "a"])
    with pytest.raises(ValueError, match="no column 'z'"):
        suda_scores(frame, ["z"])
    with pytest.raises(ValueError, match="no rows"):
        suda_scores(frame.iloc[:0], ["a"])


@pytest.mark.parametrize("high", [8, 40])
def test_rows_that_stand_for_several_records_single_out_as_the_records_do(high: int) -> None:
    rng = np.random.default_rng(high)
    frame = pd.DataFrame(rng.integers(0, high, (400, 4)), columns=list("abcd"))
    rows = frame.groupby(list("abcd")).size().reset_index(name="count")
    codes = {name: rows[name].to_numpy() for name in "abcd"}
    weighted = minimal_unique_sets(codes, rows["count"].to_numpy(), max_size=3)
    expected = {names: len(alone) for names, alone in minimal_sample_uniques(frame, list("abcd"))}
    assert {names: alone.size for names, alone in weighted} == expected
    assert expected


@pytest.mark.parametrize("max_size", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_of_counts_find_what_a_pass_over_the_rows_finds(
    monkeypatch: pytest.MonkeyPatch, max_size: int, weighted: bool
) -> None:
    rng = np.random.default_rng(max_size)
    high = {"a": 3, "b": 5, "c": 40, "d": 4, "e": 90, "f": 2}
    columns = {name: rng.integers(0, size, 3000) ** 2 // size for name, size in high.items()}
    counts = rng.integers(1, 3, 3000) if weighted else np.ones(3000, dtype=np.intp)

    def found() -> dict[tuple[str, ...], list[int]]:
        sets = minimal_unique_sets(columns, counts, {"a": 0, "c": 24}, max_size=max_size)
        return {names: rows.tolist() for names, rows in sets}

    tabled = found()
    monkeypatch.setattr("metrics.suda._CELLS", 0)
    assert tabled == found()
    assert len(tabled) >= max_size
