"""The value with the largest noisy number of a histogram encoding, as randomized response."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from defenses.ldp.histogram_encoding import SummationHistogramEncoding
from defenses.ldp.randomized_response import GeneralizedRandomizedResponse
from metrics.arrays import Floats

# Below this product of d and a tail probability, the difference of two almost equal numbers is integrated instead.
_SMALL = 0.5


class LargestNumber(GeneralizedRandomizedResponse):
    """The value with the largest number in a report of `SummationHistogramEncoding`; ties are broken uniformly.

    All other values are equally likely, so that this is randomized response with the probabilities of
    `largest_number_probabilities`. It draws the value from them, which is the same mechanism and needs no noise. The
    value is post-processed from the report, so that epsilon holds; the exact privacy, log(p/q), is smaller.

    Parameters
    ----------
    epsilon : float
        Privacy of the report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.2, for the encoding; Dwork and Roth (2014), The algorithmic foundations of
    differential privacy, section 3.3, for report noisy maximum.
    """

    @cached_property
    def _probabilities(self) -> tuple[float, float]:
        report = SummationHistogramEncoding(epsilon=self.epsilon, d=self.d)
        return largest_number_probabilities(report.units, report.scale, int(self.d))

    @property
    def p(self) -> float:
        """Probability that the own number is the largest."""
        return self._probabilities[0]

    @property
    def lie(self) -> float:
        """Probability that another number is the largest."""
        return self._probabilities[1]

    @property
    def q(self) -> float:
        """Probability that a given other number is the largest."""
        return self.lie / (self.d - 1)

    @property
    def support_odds(self) -> float:
        """Logarithm of p/q."""
        return float(np.log(self.p) - np.log(self.q))


def largest_number_probabilities(units: int, scale: float, d: int) -> tuple[float, float]:
    """Probabilities that the own number is the largest of d noisy numbers, and that another one is.

    The own number is `units` and the others are 0, each plus independent discrete Laplace noise. One of several equal
    largest numbers is drawn uniformly.

    Parameters
    ----------
    units : int
        The own number before noise, at least 1, in grid steps.
    scale : float
        Scale t of the noise, in grid steps: it equals x with probability proportional to e^(-abs(x)/t).
    d : int
        Number of values, at least 2.

    Returns
    -------
    own, another : float
        The two probabilities, which sum to 1.

    Notes
    -----
    Let r(x) = e^((abs(x) - abs(x - u))/t), the likelihood ratio of the own number x between the means u = `units` and
    0. If all means were 0, each number would be the largest with probability 1/d. So own = E[r(M)]/d with M the largest
    of d numbers of mean 0. Let s(x) be the probability that such a number exceeds x, and H(x) = 1 - (1 - s(x))^d the
    same for M. The ratio r changes only between 0 and u, by D(x) = r(x + 1) - r(x). Summation by parts gives

        own = (e^(-u/t) + sum of D(x) H(x))/d,
        another = (1 - 1/d) e^(-u/t) + sum of D(x) (s(x) - H(x)/d),   over x = 0, ..., u - 1.

    The second follows since r has mean 1 under the noise. All terms are positive, so that both sums keep their digits:
    their relative error is below 1e-11. There are u <= 2^16 terms for the encoding, whatever d is.
    """
    steps = np.arange(units)
    tail = np.exp(-(steps + 1) / scale) / (1 + np.exp(-1 / scale))
    rise = np.expm1(2 / scale) * np.exp((2 * steps - units) / scale)
    start = np.exp(-units / scale)
    own = (start + rise @ -np.expm1(d * np.log1p(-tail))) / d
    another = (1 - 1 / d) * start + rise @ _excess(tail, d)
    return float(own), float(another)


def _excess(tail: Floats, d: int) -> Floats:
    """S - (1 - (1 - s)^d)/d, the integral of 1 - (1 - y)^(d - 1) from 0 to s, for each s."""
    result = np.asarray(tail + np.expm1(d * np.log1p(-tail)) / d)
    small = d * tail < _SMALL
    # Five nodes are exact up to the tenth derivative: a relative error below 1e-14 here.
    nodes, weights = np.polynomial.legendre.leggauss(5)
    part = tail[small]
    inner = np.log1p(-part[:, None] * (1 + nodes) / 2)
    result[small] = part * (-np.expm1((d - 1) * inner) @ weights) / 2
    return result
