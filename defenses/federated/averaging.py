"""Federated averaging: clients train locally, a server averages their updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Network
from defenses.dp.exact import discrete_gaussian
from defenses.federated.noise import NormClipping, UpdateNoise, noisy
from defenses.federated.secure_aggregation import SecureAggregation
from metrics.columns import Floats, Integers, refuse, refuse_rows, require

# Distributed discrete Gaussian noise for secure sums in fixed point.

SMOOTHING = 4.0
"""From this deviation on, in steps, a Gaussian sum over the integers equals its integral up to 1 part in 10^136."""


def party_noise_parameter(multiplier: float, sensitivity: float, length: int, step: float, parties: int) -> float:
    r"""Parameter of each party's share of distributed discrete Gaussian noise, in steps of the grid.

    Let s = multiplier (sensitivity / step + sqrt(length)). The second term covers rounding, which moves two
    neighbouring vectors apart by at most one step in each coordinate. Each party's parameter is
    sqrt((s^2 + 4^2) / parties). The sum of their noise is as private as continuous Gaussian noise of that multiplier.
    Proof, with phi_a the Gaussian density of deviation a:

    1. By Poisson summation, for a >= 4 and any c, the sum of phi_a(z - c) over integers z lies within 1 +- e, with
       e = 3 exp(-2 pi^2 a^2) < 10^-136.
    2. Take two discrete Gaussians with parameters a, b and ab / sqrt(a^2 + b^2) >= 4. Their sum is a discrete Gaussian
       with parameter sqrt(a^2 + b^2), up to a factor within (1 +- e)^3 in the probabilities. The reason is the
       convolution: phi_a(z) phi_b(y - z) is phi_sqrt(a^2 + b^2)(y) times a Gaussian density in z of deviation
       ab / sqrt(a^2 + b^2). By induction the parties' sum has parameter S = sqrt(s^2 + 4^2), if each party has at
       least 4 sqrt(2).
    3. Add Gaussian noise of deviation s to an integer x. Replace the result t by an integer y with probability
       proportional to phi_4(y - t). By 1, y is distributed as x plus discrete noise of parameter S, up to a factor
       within (1 +- e)^2. This is Gaussian noise, at distances measured in steps, followed by post-processing.

    All factors together, over coordinates, rounds and parties, change a privacy loss by less than 10^-100.

    Parameters
    ----------
    multiplier : float
        Noise multiplier of the sum: standard deviation / sensitivity.
    sensitivity : float
        L2 sensitivity of the sum.
    length : int
        Length of a vector.
    step : float
        Step of the grid.
    parties : int
        Number of parties that add noise.

    Raises
    ------
    ValueError
        If the grid is too coarse for the noise.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy; Kairouz, Liu and Steinke (2021),
    The distributed discrete Gaussian mechanism for federated learning with secure aggregation, section 4, for sums;
    Peikert (2010), An efficient and parallel Gaussian sampler for lattices, theorem 3.1, for step 3.
    """
    total = multiplier * (sensitivity / step + np.sqrt(length))
    part = float(np.sqrt((total**2 + SMOOTHING**2) / parties))
    refuse(
        part < SMOOTHING * np.sqrt(2),
        f"fraction_bits: a grid of step {step:g} is too coarse for the noise; take more bits",
    )
    return part


def noisy_on_grid(values: Floats, part: float, step: float, rng: Generator) -> Floats:
    """Values rounded to the grid, with independent discrete Gaussian noise; multiples of the step.

    - part: Parameter of the noise, in steps.
    - step: Step of the grid, a power of two.
    """
    noise = discrete_gaussian(Fraction(part) ** 2, values.size, rng).reshape(values.shape)
    return np.asarray((np.rint(values / step) + noise) * step)


@dataclass(frozen=True)
class Client:
    """One client and its records.

    Parameters
    ----------
    features : ndarray, shape (n, d)
        Encoded records.
    labels : ndarray of int, shape (n,)
        Their classes, positions in `classes`.
    classes : tuple of str
        The classes, in the order of the codes in `labels`.
    """

    features: Floats
    labels: Integers
    classes: tuple[str, ...]


@dataclass(frozen=True)
class TrainingRules:
    """Hyperparameters of a federated training.

    Parameters
    ----------
    rounds, local_epochs : int
        Number of rounds, and of full-batch gradient steps that each client makes per round.
    learning_rate : float
        Learning rate of clients and server.
    participation : float
        Share of the clients drawn in each round, in (0, 1]; at least two clients are drawn.
    dropout : float
        Share of the drawn clients that drop out before their updates arrive, in [0, 1); the number is rounded down.
    clipping : NormClipping, optional
        Bound on updates.
    uplink, downlink : UpdateNoise, optional
        Gaussian noise on the clients' updates and on the server's mean update; both need clipping.
    aggregation : SecureAggregation, optional
        Secure sum of the updates; without it the server sees each update.
    """

    rounds: int
    local_epochs: int
    learning_rate: float
    participation: float = 1.0
    dropout: float = 0.0
    clipping: NormClipping | None = None
    uplink: UpdateNoise | None = None
    downlink: UpdateNoise | None = None
    aggregation: SecureAggregation | None = None


@dataclass(frozen=True)
class TrainingHistory:
    """A training as the server observed it.

    Attributes
    ----------
    updates : tuple of mapping of int to ndarray
        Per round each client's update, shape (size,); empty under secure aggregation.
    aggregates : tuple of ndarray
        Per round the weighted mean of the updates, shape (size,), before the server's noise.
    participants : tuple of ndarray of int
        Per round the clients that answered.
    models : tuple of ndarray
        Weights before each round and after the last one, shape (size,).
    noise : float
        Standard deviation of the noise per coordinate, the largest over rounds. It refers to updates, or under secure
        aggregation to the aggregate.
    """

    updates: tuple[Mapping[int, Floats], ...]
    aggregates: tuple[Floats, ...]
    participants: tuple[NDArray[np.intp], ...]
    models: tuple[Floats, ...]
    noise: float


@np.errstate(over="ignore")
def federated_averaging(
    network: Network, clients: Sequence[Client], rules: TrainingRules, rng: Generator
) -> TrainingHistory:
    """Train a model on records that stay at their clients.

    In each round the server sends the weights w. Each client i makes local gradient steps from w and sends its update
    u_i, the sum of its gradients. The server steps to w - rate * sum_i p_i u_i, where p_i = n_i / sum_j n_j over the
    clients that answer. This is the weighted mean of the clients' weights.

    Under secure aggregation clients do not know who will answer. They scale their updates by n_i divided by the
    number of records of all drawn clients. The server divides the sum by the share of records whose clients answered.

    Parameters
    ----------
    network : Network
        Architecture of the model.
    clients : sequence of Client
        At least two, none empty.
    rules : TrainingRules
        Hyperparameters.
    rng : Generator
        Draws initial weights, participants and noise.

    Raises
    ------
    ValueError
        If there are fewer than two clients. If a client is empty, has features that are not finite, or has other
        classes than the first. If noise comes without clipping, or a gradient is not finite.
    AggregationError
        If fewer clients answer than a secure sum needs.

    References
    ----------
    McMahan et al. (2017), Communication-efficient learning of deep networks from decentralized data, Algorithm 1.
    """
    check_clients(clients)
    start_rng, draw_rng, noise_rng, sum_rng = rng.spawn(4)
    table = _Table.of(clients)
    weights = network.initial(start_rng)
    count = max(2, round(rules.participation * len(clients)))
    models, updates, aggregates, participants = [weights], [], [], []
    uplink_multiplier, downlink_multiplier = (
        None if noise is None else noise.multiplier(rules.rounds) for noise in (rules.uplink, rules.downlink)
    )
    sensitivities = Sensitivities(0.0, 0.0)
    largest_noise = 0.0
    for turn in range(1, rules.rounds + 1):
        drawn = np.sort(draw_rng.choice(len(clients), count, replace=False))
        dropped = np.sort(draw_rng.permutation(count)[: int(rules.dropout * count)])
        answering = np.delete(drawn, dropped)
        sent = local_updates(network, weights, table.take(drawn), rules, turn)
        if uplink_multiplier is not None or downlink_multiplier is not None:
            sensitivities = Sensitivities.of(rules, table.sizes, drawn, answering)
        if rules.aggregation is None:
            sent = np.delete(sent, dropped, axis=0)
            if uplink_multiplier is not None:
                sent = noisy(sent, uplink_multiplier * sensitivities.uplink, noise_rng)
                largest_noise = max(largest_noise, uplink_multiplier * sensitivities.uplink)
            updates.append({int(client): update for client, update in zip(answering, sent, strict=True)})
            aggregate = table.sizes[answering] / table.sizes[answering].sum() @ sent
        else:
            sent = table.sizes[drawn][:, None] / table.sizes[drawn].sum() * sent
            answered = table.sizes[answering].sum() / table.sizes[drawn].sum()
            if uplink_multiplier is not None:
                step = rules.aggregation.step
                party_noise = party_noise_parameter(
                    uplink_multiplier, sensitivities.uplink, network.size, step, answering.size
                )
                sent = noisy_on_grid(sent, party_noise, step, noise_rng)
                largest_noise = max(largest_noise, party_noise * step * np.sqrt(answering.size) / answered)
            updates.append({})
            aggregate = rules.aggregation.total(sent, sum_rng, dropped.tolist()) / answered
        direction = aggregate
        if downlink_multiplier is not None:
            direction = noisy(aggregate, downlink_multiplier * sensitivities.downlink, noise_rng)
        weights = weights - rules.learning_rate * direction
        models.append(weights)
        aggregates.append(aggregate)
        participants.append(answering)
    return TrainingHistory(tuple(updates), tuple(aggregates), tuple(participants), tuple(models), float(largest_noise))


@dataclass(frozen=True)
class Sensitivities:
    """L2 sensitivities of one round when one record is replaced.

    - uplink: Sensitivity of a client's update, or under secure aggregation of the weighted sum.
    - downlink: Sensitivity of the mean update.
    """

    uplink: float
    downlink: float

    @classmethod
    def of(
        cls, rules: TrainingRules, sizes: NDArray[np.intp], drawn: NDArray[np.intp], answering: NDArray[np.intp]
    ) -> Sensitivities:
        """Sensitivities of a round.

        Let s_i be client i's sensitivity, 2C/n_i for n_i records and one local step. The uplink has max s_i over
        clients, or max p_i s_i under secure aggregation. The mean update has max p_i times max s_i. Raises ValueError
        if updates are not clipped.
        """
        if rules.clipping is None:
            raise ValueError("clipping: noise needs a bound on a record's influence; clip examples or updates")
        record = np.array([rules.clipping.record_sensitivity(int(size), rules.local_epochs) for size in sizes])
        shares = sizes[drawn] / sizes[drawn].sum()
        uplink = record.max() if rules.aggregation is None else (shares * record[drawn]).max()
        largest = sizes[answering].max() / sizes[answering].sum()
        return cls(float(uplink), float(largest * record.max()))


@np.errstate(over="ignore", invalid="ignore")
def local_updates(network: Network, weights: Floats, table: _Table, rules: TrainingRules, turn: int) -> Floats:
    """Clipped updates of the given clients, shape (clients, size).

    Raises ValueError if a gradient is not finite; the message names client and round.
    """
    total = np.zeros((table.numbers.size, network.size))
    current = weights
    for _ in range(rules.local_epochs):
        inputs, errors = network.errors(current, table.features, table.labels)
        factors = table.present / table.sizes[:, None]
        if rules.clipping is not None:
            factors = factors * rules.clipping.example_factors(network.example_norms(inputs, errors))
        gradients = network.combined_gradient(inputs, errors, factors)
        refuse_rows(
            ~np.isfinite(gradients).all(axis=1),
            lambda row: (
                f"client {table.numbers[row]}, round {turn}: the gradient is not finite; lower the learning rate"
            ),
        )
        total += gradients
        current = weights - rules.learning_rate * total
    return total if rules.clipping is None else rules.clipping.clipped(total)


def check_clients(clients: Sequence[Client]) -> None:
    """Raise ValueError, naming the client, unless the clients can train together."""
    require(len(clients) >= 2, f"clients: at least 2 are needed, got {len(clients)}")
    for number, client in enumerate(clients):
        require(len(client.features) != 0, f"client {number} is empty; every client needs a record")
        refuse(
            client.features.shape != (len(client.labels), clients[0].features.shape[1]),
            f"client {number}: features of shape {client.features.shape} do not fit {len(client.labels)} labels "
            f"and {clients[0].features.shape[1]} columns",
        )
        require(np.isfinite(client.features).all(), f"client {number}: features must be finite numbers")
        refuse(
            client.classes != clients[0].classes,
            f"client {number}: its classes ({', '.join(client.classes)}) differ from those of client 0 "
            f"({', '.join(clients[0].classes)})",
        )
        refuse(
            client.labels.min() < 0 or client.labels.max() >= len(client.classes),
            f"client {number}: a label is none of its {len(client.classes)} classes",
        )


@dataclass(frozen=True)
class _Table:
    """Clients' records in one array, padded to the size of the largest client.

    - numbers, sizes of shape (clients,): Index of each client, and its number of records.
    - features of shape (clients, most, d): Encoded records.
    - labels of shape (clients, most): Their classes.
    - present of shape (clients, most): 1 for a record, 0 for padding.
    """

    numbers: NDArray[np.intp]
    sizes: NDArray[np.intp]
    features: Floats
    labels: Integers
    present: Floats

    @classmethod
    def of(cls, clients: Sequence[Client]) -> _Table:
        sizes = np.array([len(client.labels) for client in clients])
        most = int(sizes.max())
        features = np.zeros((len(clients), most, clients[0].features.shape[1]))
        labels = np.zeros((len(clients), most), dtype=np.intp)
        for number, client in enumerate(clients):
            features[number, : sizes[number]] = client.features
            labels[number, : sizes[number]] = client.labels
        present = (np.arange(most) < sizes[:, None]).astype(float)
        return cls(np.arange(len(clients)), sizes, features, labels, present)

    def take(self, drawn: NDArray[np.intp]) -> _Table:
        if drawn.size == self.numbers.size:
            return self
        return _Table(
            self.numbers[drawn], self.sizes[drawn], self.features[drawn], self.labels[drawn], self.present[drawn]
        )
