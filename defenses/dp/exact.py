"""Exact sampling: integers compare the bits of a uniform number with the bits of real thresholds.

A uniform real number u in [0, 1) is drawn bit by bit: first 64 bits, as one word, for all samples at once. A category
is the number of thresholds t_0 < t_1 < ... at or below u. With T = floor(2^64 t), a word below T says u < t and a word
above T says u > t, for certain. Only a word equal to T leaves it open (once in 2^64 draws and threshold); then 64
further bits of u are drawn and t is computed to as many more, until they differ.

The thresholds' bits come from decimal arithmetic with a bound on its error; where the bound does not settle a bit, the
precision is doubled. So the law of what is drawn is the stated one exactly, given that the generator's bits are
independent and fair. (NumPy's PCG64 is no cryptographic generator: hand in one that is where an adversary could
predict it.)

Sources: Canonne, Kamath and Steinke (2020), section 5, for exact sampling with integers; Balcer and Vadhan (2018) for
inversion on 64-bit words.
"""

from __future__ import annotations

import decimal
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from metrics.arrays import Integers64, Words64

WORD = 64
BASE = 256
"""Radix in which geometric variables are drawn."""


@dataclass(frozen=True)
class Thresholds(ABC):
    """Ascending real thresholds in (0, 1), which can be computed to any precision."""

    @abstractmethod
    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the first `count` thresholds to the context's precision, and a bound on their error."""

    @abstractmethod
    def count(self) -> int | None:
        """Return how many there are, None where they never end."""

    def floors(self, count: int, bits: int) -> list[int]:
        """Return floor(2^bits t) of the first `count` thresholds, certain in every bit."""
        precision = int(bits * 0.302) + 20
        while True:
            context = decimal.Context(prec=precision, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
            values, error = self.reals(count, context)
            scale = Decimal(2**bits)
            lower = [math.floor(context.multiply(context.subtract(value, error), scale)) for value in values]
            upper = [math.floor(context.multiply(context.add(value, error), scale)) for value in values]
            # Thresholds lie inside (0, 1), however near to an end.
            lower, upper = [max(low, 0) for low in lower], [min(high, 2**bits - 1) for high in upper]
            if lower == upper:
                return lower
            precision *= 2


@dataclass(frozen=True)
class GeometricDigit(Thresholds):
    """Digit d with probability proportional to e^(-rate d): below `base`, or without end where there is none.

    The threshold after d is (1 - q^(d+1)) / (1 - q^base), q = e^-rate, the denominator 1 where there is no base.

    Error. With p digits the rate is off by a factor 1 + 10^-p, its exponential is rounded correctly, and d products
    are rounded: q^k is off by a factor 1 + k (rate + 2) 10^-p at most. Since q^k / (1 - q^k) <= 1 / (k rate),
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
        power, below = Decimal(1), []
        for _ in range(count):
            power = context.multiply(power, ratio)
            below.append(context.subtract(Decimal(1), power))
        if self.base is not None:
            whole = context.subtract(Decimal(1), context.power(ratio, self.base))
            below = [context.divide(value, whole) for value in below]
        factor = context.add(Decimal(1000), context.divide(Decimal(1000), rate))
        return below, context.multiply(factor, Decimal(10) ** -context.prec)


@dataclass(frozen=True)
class LogisticChance(Thresholds):
    """One threshold: a / (a + b e^-rate) with positive rational a and b.

    Error. Sums of positive terms keep relative errors: a few roundings at p digits, and (1 + rate) 10^-p from the
    exponential; the bound returned is many times as large.
    """

    rate: Fraction
    a: Fraction
    b: Fraction

    def count(self) -> int | None:
        """Return 1."""
        return 1

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

    def count(self) -> int | None:
        """Return 1."""
        return 1

    def reals(self, count: int, context: decimal.Context) -> tuple[list[Decimal], Decimal]:
        """Return the threshold, and a bound on its error."""
        rate = context.divide(Decimal(self.rate.numerator), Decimal(self.rate.denominator))
        # e^-x moves by at most x e^-x <= 1 times the relative error of x.
        return [context.exp(-rate)], Decimal(10) ** (2 - context.prec)


def words(size: int, rng: Generator) -> Words64:
    """Draw words of 64 independent fair bits, shape (size,)."""
    return rng.integers(0, 2**WORD - 1, size, dtype=np.uint64, endpoint=True)


def categories(thresholds: Thresholds, size: int, rng: Generator) -> Integers64:
    """Draw how many thresholds lie at or below a uniform number, shape (size,); exact."""
    return _categories(thresholds, _table(thresholds), words(size, rng), rng)


def _categories(thresholds: Thresholds, table: Words64, drawn: Words64, rng: Generator) -> Integers64:
    result = table.searchsorted(drawn, side="left")
    open_still = table.take(result, mode="clip") == drawn
    if open_still.any():
        for row in np.flatnonzero(open_still):
            result[row] = _settle(thresholds, int(result[row]), int(drawn[row]), rng)
    return result.astype(np.int64, copy=False)


def settle_below(threshold: Thresholds, word: int, rng: Generator) -> bool:
    """Whether a uniform number that starts with `word` lies below a single threshold; exact."""
    return _settle(threshold, 0, word, rng) == 0


def geometric(rate: Fraction, size: int, rng: Generator) -> Integers64:
    """Draw integers k >= 0 with probability (1 - e^-rate) e^(-rate k), shape (size,); exact.

    Since e^(-rate k) is a product over the digits of k, digits in base 256 are independent: those below the top one
    have e^(-rate 256^j d) on 0..255, and the top one, at which rate 256^j is at least 1/4, is geometric itself.

    Parameters
    ----------
    rate : Fraction
        Positive; at least 2^-50, so that no number comes near 2^63 (probability below e^-4096).
    """
    result = np.zeros(size, dtype=np.int64)
    digits = _digits(rate)
    drawn = words(len(digits) * size, rng).reshape(len(digits), size)
    for (place, digit, table), of_digit in zip(digits, drawn, strict=True):
        result += place * _categories(digit, table, of_digit, rng)
    return result


def two_sided_geometric(rate: Fraction, size: int, rng: Generator) -> Integers64:
    """Draw integers z with probability proportional to e^(-rate |z|), shape (size,); exact.

    The difference of two independent geometric variables: the sum over k of q^k q^(k + |z|) is q^|z| / (1 - q^2).
    """
    return geometric(rate, size, rng) - geometric(rate, size, rng)


@lru_cache(maxsize=256)
def _digits(rate: Fraction) -> tuple[tuple[int, GeometricDigit, Words64], ...]:
    """Place value, law and table of each digit of a geometric variable, the lowest first."""
    digits, place = [], 1
    while rate * place < Fraction(1, 4):
        digits.append(GeometricDigit(rate * place, BASE))
        place *= BASE
    digits.append(GeometricDigit(rate * place, None))
    return tuple((BASE**number, digit, _table(digit)) for number, digit in enumerate(digits))


@lru_cache(maxsize=512)
def _table(thresholds: Thresholds) -> Words64:
    count = thresholds.count()
    if count is None:
        count = 2
        # Up to the first threshold whose leading 64 bits are all ones: no word lies above it.
        while thresholds.floors(count, WORD)[-1] < 2**WORD - 1:
            count *= 2
        floors = thresholds.floors(count, WORD)
        floors = floors[: floors.index(2**WORD - 1) + 1]
    else:
        floors = thresholds.floors(count, WORD)
    table = np.array(floors, dtype=np.uint64)
    table.setflags(write=False)
    return table


def _settle(thresholds: Thresholds, first: int, word: int, rng: Generator) -> int:
    """The category of a number that starts with `word`, known to lie above every threshold before `first`."""
    bits, number, category = WORD, word, first
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
    """A parameter as the rational number that it stores."""
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
