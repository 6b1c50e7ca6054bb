"""The lecture's curves of private federated learning: loss gap against epsilon, clients and rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from defenses.base.parameters import check_integer, check_real
from defenses.federated.averaging import Client, TrainingRules, federated_averaging
from defenses.federated.clipping import ExampleClipping
from defenses.federated.encoding import Encoding
from defenses.federated.models import Network, SoftmaxRegression
from defenses.federated.noise import SerialNoise
from leaderboard.line_chart import Lines, Series
from leaderboard.report import Section, Table
from metrics.arrays import Floats
from scenarios.experiments.experiment import Experiment
from scenarios.seeds import generator


@dataclass(frozen=True)
class TrainingSetting:
    """One setting.

    Attributes
    ----------
    clients, rounds : int
        N and T.
    epsilon : float
        Budget of the whole training in both directions; infinite without noise.
    """

    clients: int
    rounds: int
    epsilon: float


@dataclass(frozen=True)
class Gap:
    """What came of a setting.

    Attributes
    ----------
    mean, half : float
        Mean loss gap over repetitions, and half the width of Student's 95 % interval.
    """

    mean: float
    half: float

    @property
    def low(self) -> float:
        """Lower end of the interval; no loss lies below the best."""
        return max(0.0, self.mean - self.half)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half


class FederatedCurves(Experiment):
    """Loss gap F(w_T) - F(w*) of noised federated averaging, and the shape that the theory gives it.

    Softmax regression on equal clients of as many records each, drawn anew in each repetition; F is the loss on all
    records of the data set and w* its minimiser, so that every setting is held against the same optimum. Uplink and
    downlink are noised by serial composition: each of the T rounds costs epsilon / (2T) each way.

    Parameters
    ----------
    dataset : str
        A shipped data set with a sensitive column of classes.
    clients : sequence of int
        Numbers N of clients.
    records : int
        Records m of each client.
    epsilon : sequence of float
        Budgets of the whole training.
    rounds : sequence of int
        Numbers T of rounds; the middle one is kept where the others vary.
    clip, learning_rate : float
        Clipping norm C of examples' gradients, and length of a step.

    Raises
    ------
    ValueError
        If a list is empty or a number is out of range.

    References
    ----------
    Wei et al. (2020), Federated learning with differential privacy, Theorem 2; Talaei and Izadi (2024), who show
    that its proof fails.
    """

    def __init__(
        self,
        *,
        dataset: str = "adult",
        clients: Sequence[int] = (10, 50, 250),
        records: int = 50,
        epsilon: Sequence[float] = (3.0, 9.0, 18.0),
        rounds: Sequence[int] = (10, 20, 40, 80),
        clip: float = 1.0,
        learning_rate: float = 2.0,
    ) -> None:
        for name, values in (("clients", clients), ("epsilon", epsilon), ("rounds", rounds)):
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ValueError(f"{name} must be a list of numbers, got {values!r}")
        for count in clients:
            check_integer("clients", count, low=2)
        for count in rounds:
            check_integer("rounds", count, low=1)
        for budget in epsilon:
            check_real("epsilon", budget, low=0, high=2 * min(rounds), open_low=True, open_high=True)
        check_integer("records", records, low=1)
        check_real("clip", clip, low=0, open_low=True)
        check_real("learning_rate", learning_rate, low=0, open_low=True)
        self.dataset = dataset
        self.clients = clients
        self.records = records
        self.epsilon = epsilon
        self.rounds = rounds
        self.clip = clip
        self.learning_rate = learning_rate

    @property
    def middle(self) -> int:
        """The number of rounds that is kept where others vary."""
        return self.rounds[(len(self.rounds) - 1) // 2]

    def run(self, plays: int, seed: int, say: Callable[[str], None]) -> tuple[Section, ...]:
        """Train at every setting `plays` times.

        Raises
        ------
        ValueError
            If the data set has too few records.
        """
        say(f"the best loss on {self.dataset}")
        problem = _Problem(self)
        gaps: dict[TrainingSetting, Gap] = {}
        for count in self.clients:
            say(f"{count} clients of {self.records} records")
            settings = [TrainingSetting(count, turns, budget) for turns in self.rounds for budget in self.epsilon]
            settings += [TrainingSetting(count, turns, np.inf) for turns in self.rounds]
            gaps |= {point: problem.gap(point, plays, seed) for point in settings}
        shape = fitted(gaps, self.records)
        return (self._by_epsilon(gaps, shape, problem.best, plays), self._by_rounds(gaps, shape))

    def _by_epsilon(
        self, gaps: dict[TrainingSetting, Gap], shape: dict[TrainingSetting, float], best: float, plays: int
    ) -> Section:
        turns = self.middle
        budgets = [*self.epsilon, np.inf]
        rows: list[tuple[str, ...]] = [
            (f"N = {count}", *(text(gaps[TrainingSetting(count, turns, budget)]) for budget in budgets))
            for count in self.clients
        ]
        columns = ("", *(f"epsilon = {budget:g}" for budget in self.epsilon), "no noise")
        theory: list[tuple[str | float, ...]] = [
            (f"N = {count}", *(shape[TrainingSetting(count, turns, budget)] for budget in budgets))
            for count in self.clients
        ]
        over_clients = tuple(
            self._curve(
                f"epsilon = {budget:g}, T = {turns}",
                "clients",
                [TrainingSetting(count, turns, budget) for count in sorted(self.clients)],
                gaps,
                shape,
            )
            for budget in self.epsilon
        )
        over_epsilon = tuple(
            self._curve(
                f"N = {count}, T = {turns}",
                "epsilon",
                [TrainingSetting(count, turns, budget) for budget in sorted(self.epsilon)],
                gaps,
                shape,
            )
            for count in self.clients
        )
        by_budget = [
            [gaps[TrainingSetting(count, turns, budget)] for count in sorted(self.clients)] for budget in self.epsilon
        ]
        falls = sum(all(more.mean < fewer.mean for fewer, more in pairwise(row)) for row in by_budget)
        clearly = sum(all(more.high < fewer.low for fewer, more in pairwise(row)) for row in by_budget)
        return Section(
            "Loss gap against epsilon and the number of clients",
            (
                f"{self.dataset}: {self.records} records a client, T = {turns}, {plays} repetitions; the best loss is "
                f"{best:.4f}. The gap falls with N at {falls} of {len(self.epsilon)} epsilons, at {clearly} by more "
                "than the intervals. The theory's constants are fitted to all settings at once.",
            ),
            (
                Table("Measured gap, 95 % interval", columns, rows, digits=3),
                Table("The theory's shape", columns, theory, digits=3, note=_SHAPE_NOTE),
            ),
            lines=(*over_clients, *over_epsilon),
        )

    def _by_rounds(self, gaps: dict[TrainingSetting, Gap], shape: dict[TrainingSetting, float]) -> Section:
        tables, pictures, found = [], [], []
        for budget in [*self.epsilon, np.inf]:
            name = "no noise" if np.isinf(budget) else f"epsilon = {budget:g}"
            rows: list[tuple[str, ...]] = []
            for count in self.clients:
                points = [TrainingSetting(count, turns, budget) for turns in self.rounds]
                rows.append((f"N = {count}", *(text(gaps[point]) for point in points), best_rounds(points, gaps)))
                if not np.isinf(budget):
                    found.append((count, budget, best_rounds(points, gaps)))
                    pictures.append(self._curve(f"N = {count}, {name}", "rounds", points, gaps, shape))
            columns = ("", *(f"T = {turns}" for turns in self.rounds), "best T")
            tables.append(Table(f"Measured gap, {name}", columns, rows, digits=3))
        inside = sum(verdict.endswith("inside") for _, _, verdict in found)
        return Section(
            "Loss gap against the number of rounds",
            (
                f"A T better than fewer and than more rounds, by more than the intervals, was found at {inside} of "
                f"{len(found)} settings of N and epsilon; elsewhere the best T is the smallest or largest tried, or "
                "cannot be told from another. The theory's constant is disputed, so a best T is looked for here, not "
                "assumed.",
            ),
            tuple(tables),
            lines=tuple(pictures),
        )

    @staticmethod
    def _curve(
        title: str,
        along: str,
        points: Sequence[TrainingSetting],
        gaps: dict[TrainingSetting, Gap],
        shape: dict[TrainingSetting, float],
    ) -> Lines:
        """Measured gaps with intervals, and the theory's shape, along one attribute of points."""
        places = [float(getattr(point, along)) for point in points]
        found = [gaps[point] for point in points]
        means = [gap.mean for gap in found]
        known = [gap for gap in found if np.isfinite(gap.half)]
        return Lines(
            title,
            _AXES[along],
            "loss gap",
            (
                Series("measured", places, means, [gap.low for gap in known], [gap.high for gap in known]),
                Series("the theory's shape", places, [shape[point] for point in points]),
            ),
            better="lower",
            scale="logarithmic",
        )


_AXES = {"clients": "clients N", "epsilon": "epsilon", "rounds": "rounds T"}
_SHAPE_NOTE = (
    "P^T Theta + (k1 T / (m sqrt(N) epsilon) + k0 T^2 / (m^2 N epsilon^2)) (1 - P^T) (Wei et al. 2020, Theorem 2, at "
    "fixed C): P on a grid, Theta, k1 and k0 at least 0 by least squares on the gap divided by what was measured."
)


@dataclass(frozen=True)
class _Problem:
    """The records, the model, and the best loss.

    Attributes
    ----------
    curves : FederatedCurves
        The experiment.
    """

    curves: FederatedCurves

    @cached_property
    def data(self) -> tuple[Floats, NDArray[np.intp], Encoding]:
        """Features and classes of all records, and the encoding."""
        from scenarios.datasets import load

        records = load(self.curves.dataset).records
        encoding = Encoding.of(records)
        needed = max(self.curves.clients) * self.curves.records
        if len(records) < needed:
            raise ValueError(f"clients: {needed} records are needed, {self.curves.dataset} has {len(records)}")
        return encoding.features(records.frame), encoding.labels(records.frame), encoding

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
    def best(self) -> float:
        """The smallest loss."""
        from scipy.optimize import minimize

        features, labels, _ = self.data

        def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
            return self.loss(weights), self.network.gradient(weights, features, labels)

        start: Any = np.zeros(self.network.size)
        found = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
        return float(found.fun)

    def gap(self, point: TrainingSetting, plays: int, seed: int) -> Gap:
        """Train `plays` times on fresh clients."""
        from scipy.special import stdtrit

        curves, (features, labels, encoding) = self.curves, self.data
        noise = None
        if np.isfinite(point.epsilon):
            noise = SerialNoise(epsilon=point.epsilon / 2, delta=0.5e-5)
        rules = TrainingRules(
            rounds=point.rounds,
            local_epochs=1,
            learning_rate=curves.learning_rate,
            clipping=ExampleClipping(norm=curves.clip),
            uplink=noise,
            downlink=noise,
        )
        gaps = []
        for play in range(plays):
            # The same clients for every budget and number of rounds: differences between them are not chance.
            drawn = generator(seed, "federated-curves", "clients", point.clients, play)
            rng = generator(seed, "federated-curves", point.clients, point.rounds, repr(float(point.epsilon)), play)
            rows = drawn.permutation(len(labels))[: point.clients * curves.records].reshape(point.clients, -1)
            clients = [Client(features[own], labels[own], encoding.classes) for own in rows]
            training = federated_averaging(self.network, clients, rules, rng)
            gaps.append(self.loss(training.models[-1]) - self.best)
        half = float(stdtrit(plays - 1, 0.975) * np.std(gaps, ddof=1) / np.sqrt(plays)) if plays > 1 else float("inf")
        return Gap(float(np.mean(gaps)), half)


def text(gap: Gap) -> str:
    """A gap with its interval."""
    return f"{gap.mean:.3f}" if np.isinf(gap.half) else f"{gap.mean:.3f} ± {gap.half:.3f}"


def best_rounds(points: Sequence[TrainingSetting], gaps: dict[TrainingSetting, Gap]) -> str:
    """The number of rounds with the smallest gap, and whether fewer and more are worse by more than both intervals."""
    best = min(points, key=lambda point: gaps[point].mean)
    place = list(points).index(best)

    def worse(others: Sequence[TrainingSetting]) -> bool:
        return any(gaps[other].low > gaps[best].high for other in others)

    inside = worse(points[:place]) and worse(points[place + 1 :])
    return f"{best.rounds}, inside" if inside else str(best.rounds)


def fitted(gaps: dict[TrainingSetting, Gap], records: int) -> dict[TrainingSetting, float]:
    """The theory's gap at every setting, its constants fitted by relative least squares.

    Parameters
    ----------
    gaps : dict of TrainingSetting to Gap
        What was measured.
    records : int
        Records m of each client.
    """
    from scipy.optimize import nnls

    points = list(gaps)
    measured = np.array([max(gaps[point].mean, 1e-6) for point in points])
    rounds, clients, epsilon = (
        np.array([getattr(point, name) for point in points], dtype=float) for name in ("rounds", "clients", "epsilon")
    )
    best: tuple[float, Floats] | None = None
    for decay in 1 - np.logspace(-3, -0.3, 40):
        left = decay**rounds
        noise = rounds / (records * np.sqrt(clients) * epsilon)
        terms = np.column_stack([left, noise * (1 - left), noise**2 * (1 - left)])
        constants, error = nnls(terms / measured[:, None], np.ones(len(points)))
        if best is None or error < best[0]:
            best = float(error), terms @ constants
    assert best is not None  # noqa: S101 (the grid is not empty)
    return dict(zip(points, best[1].tolist(), strict=True))
