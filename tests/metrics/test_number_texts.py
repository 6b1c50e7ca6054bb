"""Texts of many numbers equal those of single numbers."""

import numpy as np
import pytest

from metrics.columns.domains import format_number
from metrics.columns.values import LARGEST, SMALLEST, number_texts


def numbers_of_all_sizes(count):
    rng = np.random.default_rng(5)
    return np.concatenate(
        [
            rng.normal(size=count) * 10.0 ** rng.integers(-30, 30, count),
            rng.normal(size=count).round(3),
            rng.integers(-(10**10), 10**10, count).astype(float),
            np.nextafter([SMALLEST, LARGEST], [0, 0]),
            [0.0, SMALLEST, LARGEST, -SMALLEST, -LARGEST, 1e308, 5e-324, 0.1 + 0.2, 1e15, 1e16, 1e17],
        ]
    )


@pytest.mark.parametrize("count", [20_000, pytest.param(2_000_000, marks=pytest.mark.long)])
def test_texts_are_those_of_single_numbers(count):
    numbers = numbers_of_all_sizes(count) + 0.0
    assert number_texts(numbers, format_number).to_pylist() == [format_number(number) for number in numbers.tolist()]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e9, 9e-5])
def test_the_given_function_writes_what_arrow_writes_otherwise(number):
    texts = number_texts(np.array([1.5, number]), lambda value: f"<{value}>")
    assert texts.to_pylist() == ["1.5", f"<{number}>"]


def test_no_numbers_have_no_texts():
    assert number_texts(np.empty(0), format_number).to_pylist() == []
