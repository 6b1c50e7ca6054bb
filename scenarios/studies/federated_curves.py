"""Curves of private federated learning: loss gap against epsilon, clients and rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from defenses.base import Encoding, Network
from defenses.federated import (
    Client,
    ExampleClipping,
    SequentialNoise,
    SoftmaxRegression,
    TrainingRules,
    federated_averaging,
)
from defenses.federated.loss_bound import LossBound, noise_terms
from leaderboard import Lines, Section, Series, Table
from leaderboard.pages.number_text import counted, number
from metrics.columns import Floats, Integers, check_integer, check_list, check_real, refuse
from scenarios.studies.experiment import Experiment, Measuring, by_play, measured_anew, no_losses
from scenarios.tables.seeds import generator

# Loss gaps of noisy federated averaging: the measurement, and the fit of the theory's shape.


@dataclass(frozen=True)
class TrainingSetting:
    """One setting of the experiment.

    - epsilon: Budget of the whole training in both directions; infinite without noise.
    """

    clients: int
    rounds: int
    epsilon: float


@dataclass(frozen=True)
class Gap:
    """Loss gap at one setting.

    - mean, half: Mean loss gap over repetitions, and half the width of Student's 95 % interval; infinite for one
      repetition.
    - plays: Loss gap of each repetition.
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

    - inside: Whether fewer rounds and more rounds are both worse, by more than the intervals.
    """

    rounds: int
    inside: bool


@dataclass(frozen=True)
class LossGaps:
    """Results of the experiment: the best loss on all records, measured gaps, and those of the fitted theory."""

    experiment: FederatedCurves
    plays: int
    best_loss: float
    gaps: Mapping[TrainingSetting, Gap]
    bound: LossBound

    def shape(self, setting: TrainingSetting) -> float:
        """The fitted theory's gap."""
        m = self.experiment.records
        return float(self.bound.gap(setting.rounds, records=m, clients=setting.clients, epsilon=setting.epsilon))


@dataclass(frozen=True)
class LossProblem:
    """Training problem of the experiment: all records, the model, and the best loss.

    - dataset: A shipped data set with a sensitive column of classes.
    - most_clients: Largest number of clients of a setting.
    - clip, learning_rate: Clipping norm of examples' gradients, and length of a step.
    """

    dataset: str
    records: int
    most_clients: int
    clip: float
    learning_rate: float

    @cached_property
    def data(self) -> tuple[Floats, Integers, Encoding]:
        """Features and classes of all records, and the encoding.

        Raises ValueError if the data set has too few records.
        """
        from scenarios.datasets import load

        table = load(self.dataset).records
        encoding = Encoding.of(table)
        needed = self.most_clients * self.records
        refuse(len(table) < needed, f"clients: {needed} records are needed, {self.dataset} has {len(table)}")
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
        noisy = np.isfinite(setting.epsilon)
        noise = SequentialNoise(epsilon=setting.epsilon / 2, delta=0.5e-5) if noisy else None
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


def fitted_bound(gaps: Mapping[TrainingSetting, Gap], records: int) -> LossBound:
    """The theory's bound at C = 1; its constants are fitted to the gaps by relative least squares.

    - records: Records m of each client.
    """
    from scipy.optimize import nnls

    measured = np.array([max(gap.mean, 1e-6) for gap in gaps.values()])
    rounds, clients, epsilon = (
        np.array([getattr(setting, name) for setting in gaps], dtype=float) for name in ("rounds", "clients", "epsilon")
    )
    fits = []
    for decay in 1 - np.logspace(-3, -0.3, 40):
        terms = noise_terms(decay, rounds, 1.0, records, clients, epsilon)
        constants, error = nnls(terms / measured[:, None], np.ones(len(gaps)))
        fits.append((float(error), LossBound(float(decay), *constants.tolist())))
    return min(fits, key=lambda fit: fit[0])[1]


# Sections of the report on loss gaps of private federated learning.

_AXES = {"clients": "clients N", "epsilon": "epsilon", "rounds": "rounds T"}
_SHAPE_NOTE = (
    "P^T Theta + (k1 T / (m sqrt(N) epsilon) + k0 T^2 / (m^2 N epsilon^2)) (1 - P^T) (Wei et al. 2020, Theorem 2, at "
    "fixed C): P on a grid, Theta, k1 and k0 at least 0 by least squares on the gap divided by what was measured."
)


def epsilon_section(results: LossGaps) -> Section:
    """Loss gap against epsilon and the number of clients, at one number of rounds."""
    tried, gaps = results.experiment, results.gaps
    turns = tried.middle
    budgets = [*tried.epsilon, np.inf]
    grid = {f"N = {count}": [TrainingSetting(count, turns, budget) for budget in budgets] for count in tried.clients}
    rows: list[tuple[str, ...]] = [(name, *(gap_text(gaps[one]) for one in row)) for name, row in grid.items()]
    theory: list[tuple[str | float, ...]] = [(name, *(results.shape(one) for one in row)) for name, row in grid.items()]
    columns = ("", *(f"epsilon = {budget:g}" for budget in tried.epsilon), "no noise")
    ascending = sorted(tried.clients)
    over_clients = tuple(
        _curve(
            f"epsilon = {budget:g}, T = {turns}",
            "clients",
            [TrainingSetting(count, turns, budget) for count in ascending],
            results,
        )
        for budget in tried.epsilon
    )
    over_epsilon = tuple(
        _curve(
            f"N = {count}, T = {turns}",
            "epsilon",
            [TrainingSetting(count, turns, budget) for budget in sorted(tried.epsilon)],
            results,
        )
        for count in tried.clients
    )
    by_budget = [[gaps[TrainingSetting(count, turns, budget)] for count in ascending] for budget in tried.epsilon]
    falls = sum(all(more.mean < fewer.mean for fewer, more in pairwise(row)) for row in by_budget)
    clearly = sum(all(more.high < fewer.low for fewer, more in pairwise(row)) for row in by_budget)
    return Section(
        "Loss gap against epsilon and the number of clients",
        (
            f"{tried.dataset}: {tried.records} records a client, T = {turns}, "
            f"{counted(results.plays, 'repetition')}; the best loss is {number(results.best_loss, 4)}. The gap falls "
            f"with N at {falls} of {len(tried.epsilon)} epsilons, at {clearly} by more than the intervals. The "
            "theory's constants are fitted to all settings at "
            "once.",
        ),
        (
            Table("Measured gap, 95 % interval", columns, rows, digits=3),
            Table("The theory's shape", columns, theory, digits=3, note=_SHAPE_NOTE),
        ),
        lines=(*over_clients, *over_epsilon),
    )


def rounds_section(results: LossGaps) -> Section:
    """Loss gap against the number of rounds, at every epsilon and number of clients."""
    tables, charts, best_of_noised = [], [], []
    for budget in [*results.experiment.epsilon, np.inf]:
        name = "no noise" if np.isinf(budget) else f"epsilon = {budget:g}"
        rows: list[tuple[str, ...]] = []
        for count in results.experiment.clients:
            settings = [TrainingSetting(count, turns, budget) for turns in results.experiment.rounds]
            best = best_rounds(settings, results.gaps)
            theory = results.bound.best_rounds(records=results.experiment.records, clients=count, epsilon=budget)
            measured = (gap_text(results.gaps[one]) for one in settings)
            # Without noise the theory has no best T.
            expected = "" if np.isinf(budget) else str(theory)
            rows.append((f"N = {count}", *measured, rounds_text(best), expected))
            if not np.isinf(budget):
                best_of_noised.append(best)
                charts.append(_curve(f"N = {count}, {name}", "rounds", settings, results))
        columns = ("", *(f"T = {turns}" for turns in results.experiment.rounds), "best T", "the theory's")
        tables.append(Table(f"Measured gap, {name}", columns, rows, digits=3))
    inside = sum(best.inside for best in best_of_noised)
    return Section(
        "Loss gap against the number of rounds",
        (
            f"At {inside} of {len(best_of_noised)} settings of N and epsilon, one T is better than fewer and than more "
            "rounds, by more than the intervals. Elsewhere the best T is the smallest or largest tried, or does not "
            "differ significantly from another. The theory's constant is disputed, so a best T is not assumed.",
        ),
        tuple(tables),
        lines=tuple(charts),
    )


def gap_text(gap: Gap) -> str:
    """A gap with its interval."""
    mean = number(gap.mean, 3)
    return mean if np.isinf(gap.half) else f"{mean} ± {number(gap.half, 3)}"


def rounds_text(best: BestRounds) -> str:
    """The best number of rounds, marked where fewer and more are worse."""
    return f"{best.rounds}, inside" if best.inside else str(best.rounds)


def _curve(title: str, along: str, settings: Sequence[TrainingSetting], results: LossGaps) -> Lines:
    """Measured gaps with intervals, and the theory's shape, along one attribute of the settings."""
    positions = [float(getattr(setting, along)) for setting in settings]
    gaps = [results.gaps[setting] for setting in settings]
    with_interval = [gap for gap in gaps if np.isfinite(gap.half)]
    lows, highs = [gap.low for gap in with_interval], [gap.high for gap in with_interval]
    return Lines(
        title,
        _AXES[along],
        "loss gap",
        (
            Series("measured", positions, [gap.mean for gap in gaps], lows, highs),
            Series("the theory's shape", positions, [results.shape(setting) for setting in settings]),
        ),
        better="lower",
        scale="logarithmic",
    )


class FederatedCurves(Experiment):
    """Loss gap F(w_T) - F(w*) of noisy federated averaging, and the shape that the theory gives it.

    The model is softmax regression on clients of equal size, drawn anew in each repetition. F is the loss on all
    records of the data set and w* its minimiser, so every setting is compared with the same optimum. Noise is added
    to uplink and downlink and accounted for by sequential composition: each of the T rounds costs epsilon / (2T) in
    each direction.

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
        Numbers T of rounds; the middle one is kept where epsilon and clients vary.
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
        self.clients = check_list("clients", clients, check_integer, low=2)
        self.rounds = check_list("rounds", rounds, check_integer, low=1)
        self.epsilon = check_list(
            "epsilon", epsilon, check_real, low=0, high=2 * min(rounds), open_low=True, open_high=True
        )
        self.records = check_integer("records", records, low=1)
        self.clip = check_real("clip", clip, low=0, open_low=True)
        self.learning_rate = check_real("learning_rate", learning_rate, low=0, open_low=True)
        self.dataset = dataset

    @property
    def middle(self) -> int:
        """The number of rounds at which epsilon and the number of clients are compared."""
        return self.rounds[(len(self.rounds) - 1) // 2]

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Train at every setting `plays` times.

        Raises
        ------
        ValueError
            If the data set has too few records.
        """
        results = self.measure(plays, seed, say, measured)
        return epsilon_section(results), rounds_section(results)

    def measure(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> LossGaps:
        """Loss gaps at every setting, and the fitted theory.

        Raises
        ------
        ValueError
            If the data set has too few records.
        """
        say(f"the best loss on {self.dataset}")
        problem = LossProblem(self.dataset, self.records, max(self.clients), self.clip, self.learning_rate)
        best_loss = measured("best loss", {"dataset": self.dataset}, lambda: problem.best_loss, no_losses)
        shared = {
            "dataset": self.dataset,
            "records": self.records,
            "clip": float(self.clip),
            "learning_rate": float(self.learning_rate),
        }

        def gap(setting: TrainingSetting) -> Gap:
            budget = setting.epsilon if np.isfinite(setting.epsilon) else "none"
            parameters = {"clients": setting.clients, "rounds": setting.rounds, "epsilon": budget, **shared}
            return measured(
                "loss gap",
                parameters,
                lambda: problem.gap(setting, plays, seed),
                lambda value: by_play(gap=value.plays),
            )

        gaps: dict[TrainingSetting, Gap] = {}
        for count in self.clients:
            say(f"{count} clients of {self.records} records")
            settings = [
                TrainingSetting(count, turns, float(budget)) for turns in self.rounds for budget in self.epsilon
            ]
            settings += [TrainingSetting(count, turns, np.inf) for turns in self.rounds]
            gaps |= {setting: gap(setting) for setting in settings}
        return LossGaps(self, plays, best_loss, gaps, fitted_bound(gaps, self.records))
