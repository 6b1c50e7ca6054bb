"""Exact sampling of categories and geometric variables, without floating-point errors.

The sampler draws a uniform real number u in [0, 1) bit by bit: first 64 bits, as one word, for all samples at once. A
category is the number of thresholds t_0 < t_1 < ... at or below u. With T = floor(2^64 t), a word below T proves u < t,
and a word above T proves u > t. Only a word equal to T decides nothing (once in 2^64 draws and threshold). Then 64
further bits of u are drawn and t is computed to as many more bits, until the two differ.

The thresholds' bits come from decimal arithmetic with a bound on its error. Where the bound does not settle a bit, the
precision is doubled. So the samples have exactly the stated law, given that the generator's bits are independent and
fair. NumPy's PCG64 is not cryptographic: where an adversary could predict it, pass a `SystemGenerator`.

References
----------
Canonne, Kamath and Steinke (2020), section 5, for exact sampling with integers; Balcer and Vadhan (2018) for inversion
on 64-bit words.
"""

from __future__ import annotations

import decimal
import math
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from metrics.columns import Integers64, Words64

WORD = 64
BASE = 256
"""Radix in which geometric variables are drawn."""


@dataclass(frozen=True)
class Thresholds(ABC):
    """Ascending real thresholds in (0, 1), computable to any precision."""

    @abstractmethod
    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the first `count` thresholds to the context's precision, and a bound on their error."""

    def count(self) -> int | None:
        """Return the number of thresholds, or None if there are infinitely many; one by default."""
        return 1

    # Answers that are bought for equal parts of a budget ask for the same thresholds again and again.
    @lru_cache(maxsize=2048)  # noqa: B019 (thresholds are small, and equal ones are one)
    def floors(self, count: int, bits: int) -> tuple[int, ...]:
        """Return floor(2^bits t) of the first `count` thresholds, correct in every bit."""
        precision = int(bits * 0.302) + 20
        while True:
            context = decimal.Context(prec=precision, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
            values, error = self.reals(count, context)
            scale = Decimal(2**bits)
            lower = [math.floor(context.multiply(context.subtract(value, error), scale)) for value in values]
            upper = [math.floor(context.multiply(context.add(value, error), scale)) for value in values]
            # Thresholds lie strictly inside (0, 1), even where their bounds do not.
            lower, upper = [max(low, 0) for low in lower], [min(high, 2**bits - 1) for high in upper]
            if lower == upper:
                return tuple(lower)
            precision *= 2


@dataclass(frozen=True)
class GeometricDigit(Thresholds):
    """Thresholds of a digit d with probability proportional to e^(-rate d), below `base` or unbounded if it is None.

    The threshold after d is (1 - q^(d+1)) / (1 - q^base) with q = e^-rate; the denominator is 1 without a base.

    Error. With p digits the rate is off by a factor 1 + 10^-p, its exponential is rounded correctly, and d products
    are rounded. So q^k is off by a factor 1 + k (rate + 2) 10^-p at most. Since q^k / (1 - q^k) <= 1 / (k rate),
    1 - q^k is off by a factor 1 + (2 + 2 / rate) 10^-p, and the quotient by twice that and its own rounding. The
    bound returned is 100 times as large.
    """

    rate: Fraction
    base: int | None

    def count(self) -> int | None:
        """Return one less than the base."""
        return None if self.base is None else self.base - 1

    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the first thresholds, and a bound on their error."""
        rate = context.divide(Decimal(self.rate.numerator), Decimal(self.rate.denominator))
        ratio = context.exp(-rate)
        power, thresholds = Decimal(1), []
        for _ in range(count):
            power = context.multiply(power, ratio)
            thresholds.append(context.subtract(Decimal(1), power))
        if self.base is not None:
            total = context.subtract(Decimal(1), context.power(ratio, self.base))
            thresholds = [context.divide(value, total) for value in thresholds]
        factor = context.add(Decimal(1000), context.divide(Decimal(1000), rate))
        return thresholds, context.multiply(factor, Decimal(10) ** -context.prec)


@dataclass(frozen=True)
class LogisticChance(Thresholds):
    """One threshold: a / (a + b e^-rate) with positive rational a and b.

    Error. Sums of positive terms keep relative errors: a few roundings at p digits, and (1 + rate) 10^-p from the
    exponential. The bound returned is many times as large.
    """

    rate: Fraction
    a: Fraction
    b: Fraction

    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the threshold, and a bound on its error."""
        rate, a, b = (context.divide(Decimal(x.numerator), Decimal(x.denominator)) for x in (self.rate, self.a, self.b))
        weight = context.multiply(b, context.exp(-rate))
        error = context.multiply(context.add(Decimal(100), rate), Decimal(10) ** (1 - context.prec))
        return [context.divide(a, context.add(a, weight))], error


@dataclass(frozen=True)
class ExponentialChance(Thresholds):
    """One threshold: e^-rate, with a rational rate > 0."""

    rate: Fraction

    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the threshold, and a bound on its error."""
        rate = context.divide(Decimal(self.rate.numerator), Decimal(self.rate.denominator))
        # e^-x moves by at most x e^-x <= 1 times the relative error of x.
        return [context.exp(-rate)], Decimal(10) ** (2 - context.prec)


class SystemGenerator:
    """Generator that draws uniform integers from the operating system's cryptographic source, and nothing else.

    It takes no seed. The samplers of this module, and the noise made of them, need no other draws.
    """

    def integers(
        self, low: int, high: int, size: int | tuple[int, ...], dtype: type = np.int64, *, endpoint: bool = False
    ) -> NDArray[Any]:
        """Draw integers from low to high - 1, or to high with `endpoint`, as `numpy.random.Generator.integers` does."""
        count = high - low + endpoint
        # The largest multiple of the count that fits, so that remainders are uniform.
        largest = 2**WORD - 2**WORD % count - 1
        drawn = np.empty(math.prod(np.atleast_1d(size)), dtype=np.uint64)
        waiting = np.arange(drawn.size)
        while waiting.size:
            drawn[waiting] = np.frombuffer(os.urandom(WORD // 8 * waiting.size), dtype=np.uint64)
            waiting = waiting[drawn[waiting] > np.uint64(largest)]
        if count < 2**WORD:
            drawn %= np.uint64(count)
        return np.asarray(drawn.astype(dtype).reshape(size) + dtype(low))


def words(size: int, rng: Generator) -> Words64:
    """Draw words of 64 independent fair bits, shape (size,)."""
    return rng.integers(0, 2**WORD - 1, size, dtype=np.uint64, endpoint=True)


def categories(thresholds: Thresholds, size: int, rng: Generator) -> Integers64:
    """Exact draws of categories: the number of thresholds at or below a uniform number, shape (size,)."""
    return _categories(thresholds, _table(thresholds), words(size, rng), rng)


def _categories(thresholds: Thresholds, table: Words64, drawn: Words64, rng: Generator) -> Integers64:
    result = table.searchsorted(drawn, side="left")
    undecided = table.take(result, mode="clip") == drawn
    if undecided.any():
        for row in np.flatnonzero(undecided):
            result[row] = _settle(thresholds, int(result[row]), int(drawn[row]), rng)
    return result.astype(np.int64, copy=False)


def settle_below(threshold: Thresholds, word: int, rng: Generator, bits: int = WORD) -> bool:
    """Return True if a uniform number with these first bits lies below a single threshold; exact."""
    return _settle(threshold, 0, word, rng, bits) == 0


def integer_below(bound: int, rng: Generator) -> int:
    """Exact draw of a uniform integer in 0, ..., bound - 1, of any size, by rejection."""
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(words(-(-bits // WORD), rng).astype(">u8").tobytes(), "big") >> -bits % WORD
        if drawn < bound:
            return drawn


def geometric(rate: Fraction, size: int, rng: Generator) -> Integers64:
    """Exact draws from the geometric distribution: P(k) = (1 - e^-rate) e^(-rate k) for integers k >= 0.

    - rate: Positive; at least 2^-50, so that no number comes near 2^63 (probability below e^-4096).
    - returns shape (size,).

    Notes
    -----
    Since e^(-rate k) is a product over the digits of k, its digits in base 256 are independent. A digit d at place j
    below the top one has weight e^(-rate 256^j d) on 0..255. The top digit, at which rate 256^j is at least 1/4, is
    geometric itself.
    """
    digits = _digits(rate)
    drawn = words(len(digits) * size, rng).reshape(len(digits), size)
    parts = (
        place_value * _categories(digit, table, digit_words, rng)
        for (place_value, digit, table), digit_words in zip(digits, drawn, strict=True)
    )
    return sum(parts, np.zeros(size, dtype=np.int64))


def two_sided_geometric(rate: Fraction, size: int, rng: Generator) -> Integers64:
    """Exact draws from the discrete Laplace distribution: P(z) is proportional to e^(-rate |z|), shape (size,).

    It is the difference of two independent geometric variables: the sum over k of q^k q^(k + |z|) is q^|z| / (1 - q^2).
    """
    return geometric(rate, size, rng) - geometric(rate, size, rng)


@lru_cache(maxsize=256)
def _digits(rate: Fraction) -> tuple[tuple[int, GeometricDigit, Words64], ...]:
    """Place value, thresholds and table of each digit of a geometric variable, the lowest first."""
    digits, place_value = [], 1
    while rate * place_value < Fraction(1, 4):
        digits.append(GeometricDigit(rate * place_value, BASE))
        place_value *= BASE
    digits.append(GeometricDigit(rate * place_value, None))
    return tuple((BASE**number, digit, _table(digit)) for number, digit in enumerate(digits))


@lru_cache(maxsize=512)
def _table(thresholds: Thresholds) -> Words64:
    count = thresholds.count()
    if count is None:
        count = 2
        # The table ends at the first threshold whose leading 64 bits are all ones: no word lies above it.
        while thresholds.floors(count, WORD)[-1] < 2**WORD - 1:
            count *= 2
        floors = thresholds.floors(count, WORD)
        floors = floors[: floors.index(2**WORD - 1) + 1]
    else:
        floors = thresholds.floors(count, WORD)
    table = np.array(floors, dtype=np.uint64)
    table.setflags(write=False)
    return table


def _settle(thresholds: Thresholds, first: int, word: int, rng: Generator, bits: int = WORD) -> int:
    """Category of a number with the first bits `word`, which lies above every threshold before `first`."""
    number, category = word, first
    last = thresholds.count()
    while last is None or category < last:
        floor = thresholds.floors(category + 1, bits)[-1]
        if number < floor:
            return category
        if number > floor:
            category += 1
            continue
        number = number << WORD | int(words(1, rng)[0])
        bits += WORD
    return category


def fraction(value: Any) -> Fraction:
    """Return the rational number that a parameter stores."""
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))


# Exact sampling of the discrete Gaussian distribution.

MARGIN = 2.0**-40
"""Least distance between a uniform number and a floating-point probability at which their comparison is certain."""


def discrete_gaussian(variance: Fraction, size: int, rng: Generator) -> Integers64:
    """Exact draws from the discrete Gaussian distribution: P(z) is proportional to e^(-z^2 / (2 variance)).

    - variance: Positive, at most 2^88.
    - returns shape (size,).

    Notes
    -----
    The sampler rejects proposals from the discrete Laplace distribution with scale t = floor(sigma) + 1. It accepts z
    with probability e^(-(|z| - variance / t)^2 / (2 variance)): the product of the two is proportional to
    e^(-z^2/(2 variance)).

    A uniform number, drawn bit by bit, is compared with that probability. Its first 64 bits and the floating-point
    probability decide where the two are 2^-40 apart. Otherwise (once in 10^12 draws) the exponential of the exact
    rational exponent is computed to as many bits as needed.

    Error of floating point: let x = (|z| - variance / t) / sigma. Each of a few operations rounds by 2^-53, so that
    the exponent is off by at most 2^-53 (|x| + 3 x^2) and e^(-x^2/2) by at most 4 * 2^-53. An exponential function that
    is wrong in its last 8 bits adds 2^-45. Both are below a thirtieth of the margin, so the comparison is always exact.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, algorithm 3.
    """
    sigma = float(variance) ** 0.5
    scale = int(sigma) + 1
    middle = float(variance / scale)
    accepted: list[Integers64] = []
    missing = size
    while missing > 0:
        # At least 0.4 of the proposals are accepted.
        proposed = two_sided_geometric(Fraction(1, scale), int(missing * 1.6) + 32, rng)
        drawn = words(proposed.size, rng)
        x = (np.abs(proposed) - middle) / sigma
        gap = drawn.astype(float) * 2.0**-64 - np.exp(-x * x / 2)
        accepts = gap < 0
        for row in np.flatnonzero(np.abs(gap) < MARGIN):
            exponent = (abs(int(proposed[row])) - variance / scale) ** 2 / (2 * variance)
            # At exponent 0 the probability is 1, and every number in [0, 1) lies below it.
            accepts[row] = exponent == 0 or settle_below(ExponentialChance(exponent), int(drawn[row]), rng)
        accepted.append(proposed[accepts][:missing])
        missing -= accepted[-1].size
    return np.concatenate(accepted) if accepted else np.zeros(0, dtype=np.int64)
