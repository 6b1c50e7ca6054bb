"""Loss gaps of noisy federated averaging: the measurement, and the fit of the theory's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from defenses.federated.averaging import Client, TrainingRules, federated_averaging
from defenses.federated.clipping import ExampleClipping
from defenses.federated.encoding import Encoding
from defenses.federated.models import Network, SoftmaxRegression
from defenses.federated.noise import SequentialNoise
from metrics.columns.arrays import Floats, Integers
from scenarios.tables.seeds import generator


@dataclass(frozen=True)
class TrainingSetting:
    """One setting of the experiment.

    Attributes
    ----------
    clients, rounds : int
        Numbers N and T.
    epsilon : float
        Budget of the whole training in both directions; infinite without noise.
    """

    clients: int
    rounds: int
    epsilon: float


@dataclass(frozen=True)
class Gap:
    """Loss gap at one setting.

    Attributes
    ----------
    mean, half : float
        Mean loss gap over repetitions, and half the width of Student's 95 % interval; infinite for one repetition.
    plays : tuple of float
        Loss gap of each repetition.
    """

    mean: float
    half: float
    plays: tuple[float, ...] = ()

    @property
    def low(self) -> float:
        """Lower end of the interval; no loss lies below the best."""
        return max(0.0, self.mean - self.half)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half


@dataclass(frozen=True)
class BestRounds:
    """The number of rounds with the smallest gap.

    Attributes
    ----------
    rounds : int
        Number T.
    inside : bool
        Whether fewer rounds and more rounds are both worse, by more than the intervals.
    """

    rounds: int
    inside: bool


@dataclass(frozen=True)
class LossGaps:
    """Results of the experiment.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    records : int
        Records m of each client.
    clients, rounds : tuple of int
        Numbers N and T that were tried.
    epsilon : tuple of float
        Budgets that were tried, besides no noise.
    middle : int
        Number of rounds at which epsilon and the number of clients are compared.
    plays : int
        Repetitions of each setting.
    best_loss : float
        Smallest loss on all records.
    gaps : mapping of TrainingSetting to Gap
        Measured gaps.
    shape : mapping of TrainingSetting to float
        Gaps of the fitted theory.
    """

    dataset: str
    records: int
    clients: tuple[int, ...]
    rounds: tuple[int, ...]
    epsilon: tuple[float, ...]
    middle: int
    plays: int
    best_loss: float
    gaps: Mapping[TrainingSetting, Gap]
    shape: Mapping[TrainingSetting, float]


@dataclass(frozen=True)
class LossProblem:
    """Training problem of the experiment: all records, the model, and the best loss.

    Parameters
    ----------
    dataset : str
        A shipped data set with a sensitive column of classes.
    records : int
        Records of each client.
    most_clients : int
        Largest number of clients of a setting.
    clip, learning_rate : float
        Clipping norm of examples' gradients, and length of a step.
    """

    dataset: str
    records: int
    most_clients: int
    clip: float
    learning_rate: float

    @cached_property
    def data(self) -> tuple[Floats, Integers, Encoding]:
        """Features and classes of all records, and the encoding.

        Raises
        ------
        ValueError
            If the data set has too few records.
        """
        from scenarios.datasets import load

        table = load(self.dataset).records
        encoding = Encoding.of(table)
        needed = self.most_clients * self.records
        if len(table) < needed:
            raise ValueError(f"clients: {needed} records are needed, {self.dataset} has {len(table)}")
        return encoding.features(table.frame), encoding.labels(table.frame), encoding

    @cached_property
    def network(self) -> Network:
        """Softmax regression."""
        encoding = self.data[2]
        return SoftmaxRegression().network(encoding.width, len(encoding.classes))

    def loss(self, weights: Floats) -> float:
        """Mean loss on all records."""
        features, labels, _ = self.data
        return float(self.network.losses(weights, features, labels).mean())

    @cached_property
    def best_loss(self) -> float:
        """The smallest loss on all records."""
        from scipy.optimize import minimize

        features, labels, _ = self.data

        def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
            return self.loss(weights), self.network.gradient(weights, features, labels)

        start: Any = np.zeros(self.network.size)
        optimum = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
        return float(optimum.fun)

    def gap(self, setting: TrainingSetting, plays: int, seed: int) -> Gap:
        """Loss gap of `plays` trainings, each on fresh clients."""
        from scipy.special import stdtrit

        features, labels, encoding = self.data
        noise = None
        if np.isfinite(setting.epsilon):
            noise = SequentialNoise(epsilon=setting.epsilon / 2, delta=0.5e-5)
        rules = TrainingRules(
            rounds=setting.rounds,
            local_epochs=1,
            learning_rate=self.learning_rate,
            clipping=ExampleClipping(norm=self.clip),
            uplink=noise,
            downlink=noise,
        )
        gaps, budget = [], repr(float(setting.epsilon))
        for play in range(plays):
            # The same clients for every budget and number of rounds, so that settings are compared in pairs.
            client_rng = generator(seed, "federated-curves", "clients", setting.clients, play)
            rng = generator(seed, "federated-curves", setting.clients, setting.rounds, budget, play)
            rows = client_rng.permutation(len(labels))[: setting.clients * self.records].reshape(setting.clients, -1)
            clients = [Client(features[own], labels[own], encoding.classes) for own in rows]
            training = federated_averaging(self.network, clients, rules, rng)
            gaps.append(self.loss(training.models[-1]) - self.best_loss)
        half = float(stdtrit(plays - 1, 0.975) * np.std(gaps, ddof=1) / np.sqrt(plays)) if plays > 1 else float("inf")
        return Gap(float(np.mean(gaps)), half, tuple(gaps))


def best_rounds(settings: Sequence[TrainingSetting], gaps: Mapping[TrainingSetting, Gap]) -> BestRounds:
    """The number of rounds with the smallest gap among settings in ascending order of rounds."""
    best = min(settings, key=lambda setting: gaps[setting].mean)
    position = list(settings).index(best)

    def any_worse(others: Sequence[TrainingSetting]) -> bool:
        return any(gaps[other].low > gaps[best].high for other in others)

    return BestRounds(best.rounds, any_worse(settings[:position]) and any_worse(settings[position + 1 :]))


def fitted_shape(gaps: Mapping[TrainingSetting, Gap], records: int) -> dict[TrainingSetting, float]:
    """The theory's gap at every setting; its constants are fitted by relative least squares.

    Parameters
    ----------
    gaps : mapping of TrainingSetting to Gap
        Measured gaps.
    records : int
        Records m of each client.
    """
    from scipy.optimize import nnls

    settings = list(gaps)
    measured = np.array([max(gaps[setting].mean, 1e-6) for setting in settings])
    rounds, clients, epsilon = (
        np.array([getattr(setting, name) for setting in settings], dtype=float)
        for name in ("rounds", "clients", "epsilon")
    )
    best: tuple[float, Floats] | None = None
    for decay in 1 - np.logspace(-3, -0.3, 40):
        left = decay**rounds
        noise = rounds / (records * np.sqrt(clients) * epsilon)
        terms = np.column_stack([left, noise * (1 - left), noise**2 * (1 - left)])
        constants, error = nnls(terms / measured[:, None], np.ones(len(settings)))
        if best is None or error < best[0]:
            best = float(error), terms @ constants
    assert best is not None  # noqa: S101 (the grid is not empty)
    return dict(zip(settings, best[1].tolist(), strict=True))
