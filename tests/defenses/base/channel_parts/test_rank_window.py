"""The channel part of rank swapping."""

import numpy as np
import pandas as pd
import pytest
from channel_tools import LEVEL, chi_square, one_column
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.base.channel_parts import RankWindow, SwapLaw
from defenses.base.microdata import Microdata
from defenses.perturbation.swapping import RankSwapping, swapped_ranks
from metrics.columns.domains import CategoricalDomain, NumericDomain


def brute_force_swaps(total, window):
    """P(i, j) by going through the offsets and the blocks."""
    block = window + 1
    result = np.zeros((total, total))
    for offset in range(block):
        starts = sorted({0, *range(offset, total, block)})
        for start, stop in zip(starts, [*starts[1:], total], strict=True):
            size = stop - start
            pair = 0.0 if size == 1 else 1 / (size - 1) if size % 2 == 0 else 1 / size
            square = np.full((size, size), pair)
            np.fill_diagonal(square, 1 - pair * (size - 1))
            result[start:stop, start:stop] += square / block
    return result


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(("total", "window"), [(1, 0), (2, 1), (5, 1), (5, 4), (9, 2), (10, 3), (11, 5), (12, 11)])
def test_swap_law_equals_brute_force_over_runs(total, window):
    law, exact = SwapLaw(total, window), brute_force_swaps(total, window)
    np.testing.assert_allclose(exact.sum(axis=1), 1)
    for low in range(total):
        for low_end in range(low + 1, total + 1):
            run = np.array(low), np.array(low_end - low)
            np.testing.assert_allclose(law.within(*run), exact[low:low_end, low:low_end].sum(), atol=1e-12)
            for high in range(low_end, total):
                for high_end in range(high + 1, total + 1):
                    both = law.between(*run, np.array(high), np.array(high_end - high))
                    np.testing.assert_allclose(both, exact[low:low_end, high:high_end].sum(), atol=1e-12)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("total", "window"), [(8, 1), (9, 2), (9, 5), (7, 6)])
def test_swaps_have_the_published_law(total, window):
    rng = np.random.default_rng(5)
    plays = 6000
    drawn = np.array([swapped_ranks(total, window, rng) for _ in range(plays)])
    np.testing.assert_array_equal(np.take_along_axis(drawn, drawn, axis=1), np.tile(np.arange(total), (plays, 1)))
    exact = brute_force_swaps(total, window)
    for rank in range(total):
        assert chi_square(np.bincount(drawn[:, rank], minlength=total), plays * exact[rank]) > LEVEL


@pytest.mark.long
def test_rank_swapping_has_the_published_law_with_ties_and_categories():
    domain = CategoricalDomain(("low", "*", "high", "unused"), ordered=True)
    column = pd.Series(["low"] * 3 + ["*"] * 4 + ["high"] * 2 + [None], dtype=object)
    records = Microdata(pd.DataFrame({"c": column}), quasi_identifiers=("c",), domains={"c": domain})
    rng = np.random.default_rng(6)
    plays, row = 600, 1
    releases = [RankSwapping(window=0.3).apply(records, rng) for _ in range(plays)]
    cells = pd.Series([release.frame["c"][row] for release in releases])
    part = releases[0].channel.parts[0]
    released = ["low", "\\*", "high", None]
    probability = np.exp(one_column(part, released, column).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1)
    seen = np.array([(cells == cell).sum() for cell in released])
    assert chi_square(seen, plays * probability[:, row]) > LEVEL


@pytest.mark.thorough
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 40))
@settings(max_examples=80, deadline=None)
def test_rank_window_sums_to_one(numbers, window):
    values, counts = np.unique(np.array(numbers, dtype=float), return_counts=True)
    window = min(window, len(numbers) - 1)
    part = RankWindow("x", NumericDomain(0, 9), tuple(values.tolist()), tuple(counts.tolist()), window)
    probability = np.exp(one_column(part, values, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-9)
    # Swapping is symmetric: counts times probabilities are.
    np.testing.assert_allclose(probability * counts, (probability * counts).T, atol=1e-9)
    start = np.cumsum(counts) - counts
    gap = np.maximum(start[:, None] - (start + counts - 1)[None, :], start[None, :] - (start + counts - 1)[:, None])
    assert (probability[gap > window] == 0).all()
    if window:
        assert (probability[(gap > 0) & (gap <= window)] > 0).all()
    absent = one_column(part, values, [7.5]).table()
    assert (absent == -np.inf).all()


@pytest.mark.thorough
def test_rank_window_of_a_large_column_is_a_law():
    numbers = np.sort(np.random.default_rng(7).integers(0, 800, 30_000)).astype(float)
    values, counts = np.unique(numbers, return_counts=True)
    part = RankWindow("x", NumericDomain(0, 800), tuple(values.tolist()), tuple(counts.tolist()), 1500)
    probability = np.exp(one_column(part, values, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-9)
