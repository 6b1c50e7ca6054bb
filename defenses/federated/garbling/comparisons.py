"""Computations of two parties by garbled circuits: the millionaires' problem, a maximum, a count of common people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.federated.garbling.circuits import count, from_bits, greater, maximum, to_bits
from defenses.federated.garbling.gates import Gates, Wires
from defenses.federated.garbling.protocol import TwoPartyResult, run_two_parties
from metrics.columns import check_integer, require


@dataclass(frozen=True)
class SecureAnswer:
    """An answer with the cost of its protocol.

    Attributes
    ----------
    value : int
        The answer; 0 or 1 where it is a truth value.
    cost : TwoPartyResult
        AND gates, and bytes of each kind of message.
    """

    value: int
    cost: TwoPartyResult


def secure_greater(left: int, right: int, rng: Generator, *, bits: int = 32) -> SecureAnswer:
    """Whether the left party's number exceeds the right party's: Yao's millionaires' problem.

    Parameters
    ----------
    left, right : int
        The numbers, from 0 to 2^bits - 1.
    rng : Generator
        Randomness of both parties.
    bits : int
        Bits of a number, from 1 to 63.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If a number is out of range.

    References
    ----------
    Yao (1982), Protocols for secure computations, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> answer = secure_greater(1_200_000, 950_000, np.random.default_rng(1))
    >>> answer.value, answer.cost.and_gates
    (1, 32)
    """
    own = to_bits(_checked("left must be an integer", [left], bits)[0], bits)
    other = to_bits(_checked("right must be an integer", [right], bits)[0], bits)
    cost = run_two_parties(_greater_bit, own, other, rng)
    return SecureAnswer(int(cost.bits), cost)


def secure_maximum(numbers: ArrayLike, rng: Generator, *, bits: int = 32) -> SecureAnswer:
    """Maximum of many people's numbers by two servers, none of which sees a number: a sealed-bid auction.

    Each person splits its number into two random words, one for each server, whose exclusive or is the number.

    Parameters
    ----------
    numbers : array_like of int, shape (m,)
        The people's numbers, from 0 to 2^bits - 1.
    rng : Generator
        Randomness of the people and both servers.
    bits : int
        Bits of a number, from 1 to 63.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If there is no number, or a number is out of range.

    References
    ----------
    Naor, Pinkas and Sumner (1999), Privacy preserving auctions and mechanism design.
    """
    require(np.ndim(numbers) == 1 and np.size(numbers) != 0, "numbers must hold at least one number in one dimension")
    words = _checked("numbers must be integers", numbers, bits)
    masks = rng.integers(0, 2**bits, words.size, dtype=np.uint64)
    cost = run_two_parties(_shared_maximum, to_bits(words ^ masks, bits), to_bits(masks, bits), rng)
    return SecureAnswer(int(from_bits(cost.bits)), cost)


def secure_common_count(left: ArrayLike, right: ArrayLike, rng: Generator) -> SecureAnswer:
    """Number of people for whom both parties hold true: the patients that two hospitals have in common.

    Parameters
    ----------
    left, right : array_like of bool, shape (people,)
        One entry for each person of a public list, in the same order.
    rng : Generator
        Randomness of both parties.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If the lists are empty, differ in length, or hold other values than true and false.

    Notes
    -----
    Guarantee: both parties learn the exact count, and a count can itself disclose a person. Publish it with noise of
    differential privacy.
    """
    own, other = _truths("left", left), _truths("right", right)
    require(own.size == other.size, f"left and right must be of one length, got {own.size} and {other.size} people")
    cost = run_two_parties(_common_count, own, other, rng)
    return SecureAnswer(int(from_bits(cost.bits)), cost)


def _greater_bit(gates: Gates, left: Wires, right: Wires) -> Wires:
    return greater(gates, left, right)


def _shared_maximum(gates: Gates, left: Wires, right: Wires) -> Wires:
    return maximum(gates, gates.xor(left, right))


def _common_count(gates: Gates, left: Wires, right: Wires) -> Wires:
    return count(gates, gates.both(left, right))


def _checked(demand: str, numbers: ArrayLike, bits: int) -> NDArray[np.uint64]:
    """Numbers as words; ValueError stating the demand unless they are integers of this many bits."""
    check_integer("bits", bits, low=1)
    require(bits <= 63, f"bits must be at most 63, got {bits}")
    integers = [int(value) if _is_integer(value) else -1 for value in np.asarray(numbers).tolist()]
    # The message shows no number: they are private.
    require(all(0 <= integer < 2**bits for integer in integers), f"{demand} from 0 to 2^{bits} - 1")
    return np.array(integers, dtype=np.uint64)


def _is_integer(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and float(value).is_integer()


def _truths(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(values)
    require(
        array.ndim == 1 and array.size != 0 and np.isin(array, [0, 1]).all(),
        f"{name} must hold true or false for each person, for at least one person",
    )
    return array.astype(bool)
