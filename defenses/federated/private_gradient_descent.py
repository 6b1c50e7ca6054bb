"""DP-SGD: a differentially private classifier, trained by gradient descent with clipping and noise."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from defenses.base import Defense, Encoding, FinalModel, Guarantee, Microdata, ModelRelease, check_part
from defenses.dp.mechanism import check_delta
from defenses.federated import Architecture, ExampleClipping, SoftmaxRegression, gaussian_shift
from defenses.federated.noise import noisy
from metrics.columns import Floats, check_integer, check_real

INTERVAL = 1e-3
"""Width of the cells in which the accountant counts privacy losses; it rounds them up."""


class PrivateGradientDescent(Defense):
    """Differentially private classifier, trained by noisy gradient descent (DP-SGD); only the model is published.

    In each step every record is drawn with the sampling rate q, independently (Poisson sampling). The gradient of each
    drawn record is clipped to norm C. The sum gets Gaussian noise of standard deviation z C and is divided by q n.

    Parameters
    ----------
    model : Architecture, optional
        Architecture of the model: softmax regression by default, or `OneHiddenLayer`.
    target : str, optional
        The column to predict; the first sensitive one by default.
    epsilon, delta : float
        Privacy parameters of the model; epsilon positive, delta in (0, 1).
    sampling_rate : float
        Probability q that a record takes part in a step, in (0, 1].
    steps : int
        Number of steps, at least 1.
    norm : float
        Bound C on the Euclidean norm of a record's gradient, positive.
    learning_rate : float
        Length of a step, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range. On `apply`, if a column has no declared domain, a value lies outside it, or the
        target is missing.

    Notes
    -----
    Reads before its noise. Public: the number n of records, names and order of the columns, declared domains and their
    types, and that no class is missing. Protected: all values, and which of the inputs are missing.

    The guarantee covers the weights after every step, so also the final model. Replacing a record changes the sum in a
    step with probability q, and by 2C at most. `multiplier` is the least z for which the accountant of dp-accounting
    stays within (epsilon, delta). It composes the privacy losses of all steps numerically, rounded up. For q = 1 the
    composition is that of Gaussian mechanisms and known in closed form.

    Noisy sums are rounded to a public grid (`defenses.federated.noise.noisy`).

    References
    ----------
    Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (2016), Deep learning with differential privacy,
    Algorithm 1.
    Koskela, Jälkö and Honkela (2020), Computing tight differential privacy guarantees using FFT.
    """

    called = ("DP-SGD", "Differentially private stochastic gradient descent")

    kind: ClassVar[str] = "model"

    def __init__(
        self,
        *,
        model: Architecture | None = None,
        target: str | None = None,
        epsilon: float = 2.0,
        delta: float = 1e-5,
        sampling_rate: float = 0.2,
        steps: int = 100,
        norm: float = 1.0,
        learning_rate: float = 0.5,
    ) -> None:
        self.model = check_part("model", model, Architecture)
        self.epsilon = check_real("epsilon", epsilon, low=2.0**-7, high=64)
        self.delta = check_delta(delta)
        self.sampling_rate = check_real("sampling_rate", sampling_rate, low=0, high=1, open_low=True)
        self.steps = check_integer("steps", steps, low=1)
        self.norm = check_real("norm", norm, low=0, open_low=True)
        self.learning_rate = check_real("learning_rate", learning_rate, low=0, open_low=True)
        self.target = target

    @property
    def multiplier(self) -> float:
        """Noise multiplier z: standard deviation of the noise on a sum, divided by C."""
        return sampled_multiplier(float(self.epsilon), float(self.delta), float(self.sampling_rate), int(self.steps))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return epsilon and delta of the model."""
        encoding = Encoding.of(records, self.target)
        # A guarantee is given only for tables that can be trained on.
        encoding.labels(records.frame)
        encoding.codes(records.frame)
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement="one record replaced by any other, number of records and declared domains public, among tables "
            f"without a missing value in {encoding.target}",
        )

    def apply(self, records: Microdata, rng: Generator) -> ModelRelease:
        """Train the model."""
        encoding = Encoding.of(records, self.target)
        network = (self.model or SoftmaxRegression()).network(encoding.width, len(encoding.classes))
        features, labels = encoding.features(records.frame), encoding.labels(records.frame)
        start_rng, draw_rng, noise_rng = rng.spawn(3)
        weights = network.initial(start_rng)
        clipping = ExampleClipping(norm=self.norm)
        scale = float(self.multiplier * self.norm)
        expected = max(1.0, self.sampling_rate * len(records))
        for _ in range(self.steps):
            drawn = np.flatnonzero(draw_rng.random(len(records)) < self.sampling_rate)
            inputs, errors = network.errors(weights, features[drawn], labels[drawn])
            factors = clipping.example_factors(network.example_norms(inputs, errors))
            total: Floats = network.combined_gradient(inputs, errors, factors)
            weights = weights - self.learning_rate / expected * noisy(total, scale, noise_rng)
        return ModelRelease(FinalModel(network, weights, encoding))


@lru_cache(maxsize=256)
def sampled_multiplier(epsilon: float, delta: float, sampling_rate: float, steps: int) -> float:
    """Least noise multiplier of sampled Gaussian noise over all steps, up to one part in a thousand.

    - epsilon, delta: Budget of all steps. Neighbouring tables differ in one record's values.
    - sampling_rate: Probability that a record takes part in a step.

    Raises ValueError if no multiplier up to 10^6 is enough.
    """
    # Without sampling, a replaced record moves each sum by 2C. Sampling never needs more noise.
    largest = 2 * np.sqrt(steps) / gaussian_shift(epsilon, delta)
    if sampling_rate == 1:
        return float(largest)
    low, high = largest * sampling_rate / 4, largest
    while sampled_epsilon(low, sampling_rate, steps, delta) <= epsilon:
        low, high = low / 2, low
    while high > low * 1.001:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if sampled_epsilon(middle, sampling_rate, steps, delta) <= epsilon else (middle, high)
    return float(high)


def sampled_epsilon(multiplier: float, sampling_rate: float, steps: int, delta: float) -> float:
    """Epsilon of sampled Gaussian noise over all steps, by numeric composition (dp-accounting); an upper bound.

    - sampling_rate, steps, delta: See `sampled_multiplier`.
    """
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    law = from_gaussian_mechanism(
        multiplier,
        value_discretization_interval=INTERVAL,
        sampling_prob=sampling_rate,
        neighboring_relation=NeighboringRelation.REPLACE_ONE,
    )
    return float(law.self_compose(steps).get_epsilon_for_delta(delta))
