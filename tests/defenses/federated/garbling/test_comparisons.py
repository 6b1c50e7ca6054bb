"""Two parties compare numbers and count common people by garbled circuits: answers, costs and bad input."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import secure_common_count, secure_greater, secure_maximum


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 99))
def test_millionaires(left, right, seed):
    answer = secure_greater(left, right, np.random.default_rng(seed))
    assert answer.value == (left > right)
    assert answer.cost.total_bytes == 4208


@pytest.mark.parametrize("pair", [(7, 7), (0, 0), (2**32 - 1, 2**32 - 1), (2**32 - 1, 0), (0, 1)])
def test_millionaires_at_the_edges(pair):
    assert secure_greater(*pair, np.random.default_rng(1)).value == (pair[0] > pair[1])
    assert secure_greater(1, 0, np.random.default_rng(1), bits=1).value == 1


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("m", [1, 2, 3, 64])
def test_maximum_of_people_whose_numbers_no_server_sees(m):
    rng = np.random.default_rng(m)
    numbers = rng.integers(0, 2**32, m)
    assert secure_maximum(numbers, rng).value == numbers.max()


@pytest.mark.parametrize("people", [1, 2, 7, 300])
def test_patients_in_common(people):
    rng = np.random.default_rng(people)
    north, south = rng.random((2, people)) < 0.4
    assert secure_common_count(north, south, rng).value == (north & south).sum()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: secure_greater(-1, 3, rng), r"^left must be an integer from 0 to 2\^32 - 1$"),
        (lambda rng: secure_greater(1, 2**32, rng), r"^right must be an integer from 0 to 2\^32 - 1$"),
        (lambda rng: secure_greater(1, True, rng), r"^right must be an integer from 0 to 2\^32 - 1$"),
        (lambda rng: secure_greater([1, 2], 2, rng), r"^left must be an integer from 0 to 2\^32 - 1$"),
        (lambda rng: secure_greater(1, 2, rng, bits=0), "bits must be an integer"),
        (lambda rng: secure_greater(1, 2, rng, bits=64), "bits must be at most 63"),
        (lambda rng: secure_maximum([], rng), "at least one number"),
        (lambda rng: secure_maximum([1.5], rng), r"^numbers must be integers from 0 to 2\^32 - 1$"),
        (lambda rng: secure_maximum(5, rng), "one dimension"),
        (lambda rng: secure_maximum([float("nan")], rng), "numbers must be integers"),
        (lambda rng: secure_maximum([float("inf")], rng), "numbers must be integers"),
        (lambda rng: secure_common_count([], [], rng), "at least one person"),
        (lambda rng: secure_common_count([1], [1, 0], rng), "of one length, got 1 and 2 people"),
        (lambda rng: secure_common_count([2], [1], rng), "left must hold true or false"),
        (lambda rng: secure_common_count([1], [float("nan")], rng), "right must hold true or false"),
    ],
)
def test_bad_inputs_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))


def test_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name == "nacl":
            raise ModuleNotFoundError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tokumei\[garbling\]'"):
        secure_greater(1, 2, np.random.default_rng(0))


def test_costs_are_those_of_the_circuits():
    rng = np.random.default_rng(2)
    for bits in (1, 8, 63):
        # One AND gate for each bit of a comparison (Kolesnikov, Sadeghi and Schneider 2009, section 3.2).
        assert secure_greater(0, 1, rng, bits=bits).cost.and_gates == bits
        # A maximum of m numbers takes m - 1 comparisons and as many choices.
        assert secure_maximum([1, 0, 1], rng, bits=bits).cost.and_gates == 4 * bits
        assert secure_maximum([1], rng, bits=bits).cost.and_gates == 0
    # One AND gate for each person, and one for each carry of the adders.
    assert secure_common_count([True], [True], rng).cost.and_gates == 1
    assert secure_common_count([1, 1], [1, 0], rng).cost.and_gates == 3


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("numbers", [[0], [0, 0, 0], [2**63 - 1, 1], [5, 5]])
def test_maximum_at_the_edges(numbers):
    assert secure_maximum(numbers, np.random.default_rng(3), bits=63).value == max(numbers)


def test_floats_and_numpy_integers_count_as_integers():
    rng = np.random.default_rng(4)
    assert secure_greater(np.int64(3), 2.0, rng).value == 1
    assert secure_maximum(np.array([1.0, 4.0]), rng).value == 4
    for bad in ([[1, 2]], 3):
        with pytest.raises(ValueError, match="numbers must hold at least one number in one dimension"):
            secure_maximum(bad, rng)
