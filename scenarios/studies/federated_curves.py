"""Curves of private federated learning: loss gap against epsilon, clients and rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from defenses.base.parameters import check_integer, check_list, check_real
from leaderboard.pages.report import Section
from scenarios.studies.experiment import Experiment
from scenarios.studies.federated_gaps import Gap, LossGaps, LossProblem, TrainingSetting, fitted_shape
from scenarios.studies.federated_report import epsilon_section, rounds_section
from scenarios.studies.measuring import Measuring, by_play, measured_anew, no_losses


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
        for name, values in (("clients", clients), ("epsilon", epsilon), ("rounds", rounds)):
            check_list(name, values)
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
    def datasets(self) -> tuple[str, ...]:
        """The data set."""
        return (self.dataset,)

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
        return LossGaps(
            dataset=self.dataset,
            records=self.records,
            clients=tuple(self.clients),
            rounds=tuple(self.rounds),
            epsilon=tuple(float(budget) for budget in self.epsilon),
            middle=self.middle,
            plays=plays,
            best_loss=best_loss,
            gaps=gaps,
            shape=fitted_shape(gaps, self.records),
        )
