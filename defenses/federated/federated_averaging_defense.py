"""Federated averaging as a defense: records stay at clients, the server sees updates or sums of updates."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Defense, Guarantee, Microdata, TrainingRelease, check_part
from defenses.base.training import Encoding as Encoding
from defenses.federated import (
    Architecture,
    EqualSplit,
    NormClipping,
    SecureAggregation,
    SequentialNoise,
    SoftmaxRegression,
    Split,
    UpdateNoise,
    gaussian_epsilon,
)
from defenses.federated.averaging import Client, Sensitivities, TrainingRules, federated_averaging
from metrics.columns import check_integer, check_real, errors_at, require

# Splits of records over clients.


class FederatedAveraging(Defense):
    """Federated averaging, with the server as adversary.

    A model is trained on records that stay at their clients. The release holds everything that the server sees.

    Parameters
    ----------
    model : Architecture, optional
        Architecture of the model; softmax regression by default.
    split : Split, optional
        Distribution of the records over clients; ten equal clients by default.
    target : str, optional
        The column to predict; the first sensitive one by default.
    rounds, local_epochs : int
        Number of rounds, and of full-batch gradient steps that each client makes per round.
    learning_rate : float
        Learning rate of clients and server, positive.
    participation : float
        Share of the clients drawn in each round, in (0, 1].
    dropout : float
        Share of the drawn clients that drop out before their updates arrive, in [0, 1); the number is rounded down.
        The remaining clients then add the noise of a secure sum, so its budget holds.
    clipping : NormClipping, optional
        Bound on updates.
    uplink, downlink : UpdateNoise, optional
        Gaussian noise on the clients' updates and on the server's mean update; both need clipping.
    aggregation : SecureAggregation, optional
        Secure sum of the updates; the server then sees only sums.

    Raises
    ------
    ValueError
        If a number is out of range, a part is of the wrong kind, or noise comes without clipping.

    Notes
    -----
    With noise on the uplink epsilon is guaranteed. Reads before its noise. Public: the number of records, the clients'
    sizes and which client holds which record, names and order of the columns, declared domains and their types, and
    that no class is missing. Protected: all values, and which of the inputs are missing.

    References
    ----------
    McMahan et al. (2017), Algorithm 1; Wei et al. (2020), Federated learning with differential privacy, section III.
    """

    called = ("FedAvg", "Federated averaging")

    kind: ClassVar[str] = "training"

    def __init__(
        self,
        *,
        model: Architecture | None = None,
        split: Split | None = None,
        target: str | None = None,
        rounds: int = 20,
        local_epochs: int = 1,
        learning_rate: float = 0.5,
        participation: float = 1.0,
        dropout: float = 0.0,
        clipping: NormClipping | None = None,
        uplink: UpdateNoise | None = None,
        downlink: UpdateNoise | None = None,
        aggregation: SecureAggregation | None = None,
    ) -> None:
        self.rounds = check_integer("rounds", rounds, low=1)
        self.local_epochs = check_integer("local_epochs", local_epochs, low=1)
        self.learning_rate = check_real("learning_rate", learning_rate, low=0, open_low=True)
        self.participation = check_real("participation", participation, low=0, high=1, open_low=True)
        self.dropout = check_real("dropout", dropout, low=0, high=1, open_high=True)
        self.model = check_part("model", model, Architecture)
        self.split = check_part("split", split, Split)
        self.clipping = check_part("clipping", clipping, NormClipping)
        self.uplink = check_part("uplink", uplink, UpdateNoise)
        self.downlink = check_part("downlink", downlink, UpdateNoise)
        self.aggregation = check_part("aggregation", aggregation, SecureAggregation)
        for name, noise in (("uplink", uplink), ("downlink", downlink)):
            if noise is not None:
                require(clipping is not None, f"{name}: noise needs clipping, which bounds a record's influence")
                with errors_at(name):
                    noise.multiplier(rounds)
        self.target = target

    @property
    def rules(self) -> TrainingRules:
        """Hyperparameters of the training."""
        return TrainingRules(
            self.rounds,
            self.local_epochs,
            self.learning_rate,
            self.participation,
            self.dropout,
            self.clipping,
            self.uplink,
            self.downlink,
            self.aggregation,
        )

    def apply(self, records: Microdata, rng: Generator) -> TrainingRelease:
        """Distribute the records over clients, train, and release what the server saw.

        Raises
        ------
        ValueError
            If there is no column to predict, or there are fewer records than clients. If a column has no public
            domain, or a value lies outside its domain.
        """
        split_rng, train_rng = rng.spawn(2)
        encoding = Encoding.of(records, self.target)
        features, labels = encoding.features(records.frame), encoding.labels(records.frame)
        split = self.split or EqualSplit()
        sizes = split.sizes(len(records))
        holder = split.assign(labels, split_rng)
        clients = [
            Client(features[holder == client], labels[holder == client], encoding.classes)
            for client in range(split.clients)
        ]
        network = (self.model or SoftmaxRegression()).network(encoding.width, len(encoding.classes))
        training = federated_averaging(network, clients, self.rules, train_rng)
        return TrainingRelease(
            updates=training.updates,
            aggregates=training.aggregates,
            participants=training.participants,
            models=training.models,
            sizes=tuple(sizes.tolist()),
            learning_rate=self.learning_rate,
            local_epochs=self.local_epochs,
            clipping=self.clipping,
            noise=training.noise,
            network=network,
            encoding=encoding,
            holder=holder,
        )

    def guarantee(self, records: Microdata) -> Guarantee:
        """Record-level differential privacy of everything that the server sees; the statement gives the client level.

        There is a guarantee only with noise on the uplink. Noise on the downlink alone protects against those who see
        the models, but not against the server; the statement says so.

        With sequential composition in both directions, both budgets add up, as in the lecture. Under an accountant
        the uplink's budget is the whole cost, since the server computes its messages from noisy updates. The server
        knows the participants, so drawing them does not amplify privacy. Neighbouring tables place each record at the
        same client: a split describes where records already are, and costs nothing.
        """
        sizes = (self.split or EqualSplit()).sizes(len(records))
        encoding = Encoding.of(records, self.target)
        # A guarantee is given only for tables that can be trained on.
        encoding.labels(records.frame)
        encoding.codes(records.frame)
        noise = self.uplink or self.downlink
        if self.clipping is None or noise is None:
            return Guarantee()
        record, client = self._sensitivities(sizes, self.clipping, noise)
        shift = np.sqrt(self.rounds) / noise.multiplier(self.rounds) * client / record
        client_level = f"client level: epsilon {gaussian_epsilon(float(shift), noise.delta):.3g} at the same delta"
        universe = f"among tables without a missing value in {encoding.target}"
        record_level = f"record level: one record's values replaced at its client, {universe}"
        if self.uplink is None:
            return Guarantee(
                statement=f"none against the server; against those who see the models alone epsilon "
                f"{noise.epsilon:.3g}, delta {noise.delta:.3g}, {record_level}; {client_level}"
            )
        epsilon, delta = self.uplink.epsilon, self.uplink.delta
        if isinstance(self.uplink, SequentialNoise) and isinstance(self.downlink, SequentialNoise):
            epsilon, delta = epsilon + self.downlink.epsilon, delta + self.downlink.delta
        observed = (
            "all updates"
            if self.aggregation is None
            else "sums of updates, if every client that answers adds its noise"
        )
        return Guarantee(epsilon=epsilon, delta=delta, statement=f"{observed}; {record_level}; {client_level}")

    def _sensitivities(
        self, sizes: NDArray[np.intp], clipping: NormClipping, noise: UpdateNoise
    ) -> tuple[float, float]:
        """Sensitivity that the noise is scaled to, and the sensitivity to replacing a whole client.

        With p_i = n_i / n and one local step, p_i 2C/n_i is 2C/n for every client. The largest client has the largest
        p_i 2C.
        """
        everyone = np.arange(sizes.size)
        sensitivities = Sensitivities.of(self.rules, sizes, everyone, everyone)
        weight = 1.0 if noise is self.uplink and self.aggregation is None else (sizes / sizes.sum()).max()
        client = float(weight * clipping.client_sensitivity(self.local_epochs))
        return (sensitivities.uplink if noise is self.uplink else sensitivities.downlink), client
