"""Empirical lower bounds on epsilon from repeated runs of a mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from metrics.columns import Booleans, Floats, Integers, bisect, refuse, require
from metrics.estimate import Estimate, check_confidence, check_successes

# Lower bounds on epsilon from guesses about many canaries in few runs.

LARGEST_EPSILON = 50.0
"""Largest bound on epsilon that is searched for."""
LARGEST_SHIFT = 20.0
"""Largest bound on the shift of a Gaussian trade-off function that is searched for."""
RAREST = -40.0
"""Logarithm of the smallest tail probability that is computed for several runs."""


def one_run_p_value(correct: int, guesses: int, canaries: int, *, epsilon: float, delta: float = 0.0) -> float:
    r"""Largest probability that an (epsilon, delta) private mechanism allows so many correct guesses.

    Each canary is in the input with probability 1/2, independently. From the output alone, an adversary guesses for a
    fixed number r of canaries whether they are in it, and abstains from the others.

    Let B have the binomial distribution of r trials with success probability e^epsilon / (e^epsilon + 1). Then
    P(correct >= v) <= P(B >= v) + 2 m delta max over i of P(v - i <= B < v) / i. With delta = 0 randomized response
    reaches the bound.

    A ValueError is raised if a number is out of range.

    - correct: Number v of correct guesses, in 0..guesses.
    - guesses: Number r of guesses, in 1..canaries.
    - canaries: Number m of canaries.
    - epsilon, delta: Privacy parameters of the hypothesis; epsilon at least 0, delta in [0, 1).

    Source: Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run, theorem 5.2 and appendix D.
    """
    from scipy.stats import binom

    _check(correct, guesses, canaries)
    require(
        epsilon >= 0 and 0 <= delta < 1, f"epsilon must be at least 0 and delta in [0, 1), got {epsilon} and {delta}"
    )
    accuracy = 1 / (1 + np.exp(-epsilon))
    tail = float(binom.sf(correct - 1, guesses, accuracy))
    if not delta or not correct:
        return min(1.0, tail)
    steps = np.arange(1, correct + 1)
    just_below = np.cumsum(binom.pmf(correct - steps, guesses, accuracy))
    return float(min(1.0, tail + 2 * canaries * delta * np.max(just_below / steps)))


def one_run_epsilon(correct: int, guesses: int, canaries: int, *, delta: float = 0.0, confidence: float) -> float:
    """Lower bound on epsilon of any mechanism from the correct guesses about its canaries.

    - correct, guesses, canaries, delta: See `one_run_p_value`.
    - confidence: In (0, 1): the bound exceeds the true epsilon with probability at most 1 - confidence. The number of
      guesses must be fixed before the run.
    - returns: The largest epsilon that is refuted, 0 if none is.

    Raises ValueError if a number is out of range.
    """
    check_confidence(confidence)

    def refuted(epsilon: float) -> bool:
        return one_run_p_value(correct, guesses, canaries, epsilon=epsilon, delta=delta) <= 1 - confidence

    return bisect(refuted, 0.0, LARGEST_EPSILON, 40)[0] if refuted(0.0) else 0.0


def gaussian_shift_bound(correct: int, guesses: int, canaries: int, *, runs: int = 1, confidence: float) -> float:
    r"""Lower bound on mu of a mechanism with a Gaussian trade-off function, from the correct guesses in some runs.

    The mechanism is taken to be mu-GDP for some mu: testing neighbouring inputs is at least as hard as N(0, 1) against
    N(mu, 1). Nothing else is assumed; the outputs about different canaries may depend on one another.

    Parameters
    ----------
    correct : int
        Number of correct guesses in all runs together, in 0..runs * guesses.
    guesses, canaries : int
        Number r of guesses and m of canaries of one run.
    runs : int
        Number of independent runs.
    confidence : float
        In (0, 1): the bound exceeds the true mu with probability at most 1 - confidence.

    Returns
    -------
    float
        The largest mu that is refuted, 0 if none is.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Let C be the number of correct guesses of one run, p_l = P(C = l), Q_i = P(C >= i) and G_i = Q_i + ... + Q_r. Let
    f be the trade-off function and F(x) = 1 - f(x), which is concave; here F(x) = Phi(Phi^-1(x) + mu). Consider the
    event that canary j is guessed correctly and C >= i + 1. Moving canary j in or out of the input turns it into the
    event that j is guessed wrongly and C >= i, and both have the same outputs. So the probability P of the first and
    that of the second, P', satisfy P <= F(P'). The mean over j keeps this, as F is concave::

        sum over l > i of (l / m) p_l  <=  F(sum over l >= i of ((r - l) / m) p_l).

    The left side is (i Q_{i+1} + G_{i+1}) / m. The sum on the right side is ((r - i) Q_i - G_{i+1}) / m. Hence ::

        Q_i  >=  (G_{i+1} + m F^-1((i Q_{i+1} + G_{i+1}) / m)) / (r - i).

    The right side grows with Q_{i+1} and G_{i+1}. If P(C >= v) is at least tau, then Q_v >= tau and G_v >= tau, and the
    recursion gives lower bounds on all Q_i with i < v. If one exceeds 1, then P(C >= v) < tau.

    With several runs, C of each is stochastically smaller than a variable with the tail T(v), the largest tau that is
    not refuted. The sum over independent runs has at most the tail of the sum of independent such variables. For one
    run, a mechanism may spend a small probability on revealing all canaries together, which makes the bound loose at
    high confidence. For several runs this matters less.

    References
    ----------
    Mahloujifar, Melis and Chaudhuri (2024), Auditing f-differential privacy in one run, theorem 9 and algorithm 3.
    Dong, Roth and Su (2022), Gaussian differential privacy.
    """
    require(runs >= 1, f"runs must be at least 1, got {runs}")
    _check(correct, runs * guesses, runs * canaries)
    _check(0, guesses, canaries)
    check_confidence(confidence)
    if runs == 1:
        return _shift_of_one_run(correct, guesses, canaries, 1 - confidence)

    def refuted(shift: float) -> bool:
        return _tail_of_sum(correct, guesses, canaries, runs, shift) <= 1 - confidence

    return bisect(refuted, 0.0, LARGEST_SHIFT, 14)[0]


def _shift_of_one_run(correct: int, guesses: int, canaries: int, level: float) -> float:
    low, high = 0.0, LARGEST_SHIFT
    for _ in range(4):
        shifts = np.linspace(low, high, 17)
        refuted = _refuted(np.full(17, correct), np.full(17, level), guesses, canaries, shifts)
        # A shift counts only if all smaller ones are refuted, too.
        last = int(np.argmin(np.append(refuted, False))) - 1
        if last < 0:
            return 0.0
        low, high = shifts[last], shifts[min(last + 1, 16)]
    return float(low)


def _tail_of_sum(correct: int, guesses: int, canaries: int, runs: int, shift: float) -> float:
    """Largest probability of so many correct guesses in independent runs."""
    tails = _largest_tails(guesses, canaries, shift)
    law = np.maximum(tails - np.append(tails[1:], 0.0), 0.0)
    size = runs * guesses + 1
    # The convolution is circular, so the transform covers twice the range of the sum.
    power = np.fft.irfft(np.fft.rfft(law / law.sum(), 2 * size) ** runs, 2 * size)[:size]
    # Rounding of the transform is far below any level in use.
    return float(power[correct:].sum()) + 1e-9


def _largest_tails(guesses: int, canaries: int, shift: float) -> Floats:
    """Largest P(C >= v) for v = 0..guesses under a Gaussian trade-off function, shape (guesses + 1,)."""
    least = np.arange(guesses + 1)
    low, high = np.full(least.size, RAREST), np.zeros(least.size)
    for _ in range(22):
        middle = (low + high) / 2
        refuted = _refuted(least, np.exp(middle), guesses, canaries, np.full(least.size, shift))
        low, high = np.where(refuted, low, middle), np.where(refuted, middle, high)
    tails = np.exp(high)
    tails[0] = 1.0
    return np.asarray(np.minimum.accumulate(tails))


def _refuted(correct: Integers, tau: Floats, guesses: int, canaries: int, shift: Floats) -> Booleans:
    """True where P(C >= correct) must be below tau; the arrays have one shape."""
    tail, total = tau.copy(), tau.copy()
    for i in range(int(correct.max()) - 1, -1, -1):
        power = np.minimum((i * tail + total) / canaries, 1.0)
        needed = (total + canaries * ndtr(ndtri(power) - shift)) / (guesses - i)
        begun = i < correct
        # Beyond 2 the hypothesis is refuted, and larger numbers may overflow.
        tail = np.where(begun, np.minimum(np.maximum(needed, tail), 2.0), tail)
        if np.all(tail > 1):
            break
        total = np.where(begun, np.minimum(total + tail, 2.0 * guesses), total)
    return np.asarray(tail > 1)


def _check(correct: int, guesses: int, canaries: int) -> None:
    refuse(
        not 0 <= correct <= guesses <= canaries or guesses < 1,
        (
            "correct guesses, guesses and canaries must satisfy 0 <= correct <= guesses <= canaries and guesses >= 1, "
            f"got {correct}, {guesses} and {canaries}"
        ),
    )


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Success rate in `n` independent trials with the exact interval of Clopper and Pearson.

    The interval covers the true rate with probability at least `confidence`, for every rate and every `n`. Each side
    misses it with probability at most (1 - confidence) / 2.

    Parameters
    ----------
    successes : int
        Number of successes, between 0 and `n`.
    n : int
        Number of trials, at least 1.
    confidence : float
        Level of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If `n` < 1, `successes` lies outside [0, n] or `confidence` outside (0, 1).

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
    """
    check_successes(successes, n)
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    return Estimate(successes / n, float(_lower(successes, n, tail)), float(_upper(successes, n, tail)), n)


def epsilon_lower_bound(
    first: ArrayLike, first_runs: int, second: ArrayLike, second_runs: int, *, delta: float = 0.0, confidence: float
) -> Floats:
    """Lower bound on epsilon from the frequencies of an event on two neighbouring inputs.

    For every event with probabilities p and q on neighbouring inputs, an (epsilon, delta) private mechanism has p <=
    e^epsilon q + delta. By Clopper and Pearson, p >= p₋ and q <= q₊ hold with probability 1 - (1 - confidence)/2 each.
    Hence epsilon >= ln((p₋ - delta) / q₊) with probability `confidence`. The event must be fixed before these runs.

    Parameters
    ----------
    first, second : array_like of int, any common shape
        Number of runs with the event on the first and on the second input; one bound for each pair of entries.
    first_runs, second_runs : int
        Number of runs on each input.
    delta : float
        The claimed delta, in [0, 1).
    confidence : float
        Confidence level of each bound, in (0, 1).

    Returns
    -------
    ndarray of float, shape of `first`
        The bounds; 0 where the runs prove nothing.

    Raises
    ------
    ValueError
        If there are no runs, counts lie outside 0..runs, or `delta` or `confidence` outside its range.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning, section 4.
    """
    first_counts, second_counts = np.asarray(first), np.asarray(second)
    for name, counts, runs in (("first", first_counts, first_runs), ("second", second_counts, second_runs)):
        refuse(
            runs < 1 or (counts.size and not (counts.min() >= 0 and counts.max() <= runs)),
            f"{name} must lie in 0..{name}_runs with {name}_runs >= 1",
        )
    require(0 <= delta < 1, f"delta must lie in [0, 1), got {delta}")
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    excess = np.maximum(_lower(first_counts, first_runs, tail) - delta, 0)
    with np.errstate(divide="ignore"):
        bound: Floats = np.log(excess) - np.log(_upper(second_counts, second_runs, tail))
    return np.maximum(bound, 0.0)


def _lower(successes: ArrayLike, n: int, tail: float) -> Floats:
    from scipy.special import betaincinv

    counts = np.asarray(successes, dtype=float)
    # Without a success the bound is 0; the distribution Beta(0, ·) does not exist.
    return np.asarray(np.where(counts > 0, betaincinv(np.maximum(counts, 1), n - counts + 1, tail), 0.0))


def _upper(successes: ArrayLike, n: int, tail: float) -> Floats:
    return 1 - _lower(n - np.asarray(successes, dtype=float), n, tail)
