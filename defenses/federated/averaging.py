"""Federated averaging: rounds of training at clients and of averaging at a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.clipping import NormClipping
from defenses.federated.discrete_noise import noisy_on_grid, part_of_noise
from defenses.federated.models import Network
from defenses.federated.noise import UpdateNoise, noisy
from metrics.arrays import Floats, Integers


class Summation(Protocol):
    """Something that adds up clients' vectors so that the server sees the sum alone."""

    @property
    def step(self) -> float:
        """Step of the grid that numbers are rounded to."""

    def total(self, values: Floats, rng: Generator, dropped: Sequence[int] = ()) -> Floats:
        """Sum over clients that do not drop out, shape (length,), of vectors of shape (clients, length)."""


@dataclass(frozen=True)
class Client:
    """What one client holds.

    Parameters
    ----------
    features : ndarray, shape (n, d)
        Encoded records.
    labels : ndarray of int, shape (n,)
        Their classes, positions in `classes`.
    classes : tuple of str
        The classes that this client knows of.
    """

    features: Floats
    labels: Integers
    classes: tuple[str, ...]


@dataclass(frozen=True)
class TrainingRules:
    """How a training goes.

    Parameters
    ----------
    rounds, local_epochs : int
        Rounds, and steps over all of its records that a client makes in each.
    learning_rate : float
        Length of a step.
    participation : float
        Share of the clients that are drawn in each round, in (0, 1]; at least two.
    dropout : float
        Share of the drawn clients, in [0, 1) and rounded down, that fall silent before their updates arrive.
    clipping : NormClipping, optional
        Bounds updates.
    uplink, downlink : UpdateNoise, optional
        On what clients send and on what the server sends; both need clipping.
    aggregation : Summation, optional
        Adds the updates up unseen; without it the server sees each.
    """

    rounds: int
    local_epochs: int
    learning_rate: float
    participation: float = 1.0
    dropout: float = 0.0
    clipping: NormClipping | None = None
    uplink: UpdateNoise | None = None
    downlink: UpdateNoise | None = None
    aggregation: Summation | None = None


@dataclass(frozen=True)
class TrainingHistory:
    """What a training was, as the server saw it.

    Attributes
    ----------
    updates : tuple of mapping of int to ndarray
        Per round the update of each client, shape (size,); empty where they were added up unseen.
    aggregates : tuple of ndarray
        Per round the weighted mean of the updates, shape (size,), before the server's noise.
    participants : tuple of ndarray of int
        Per round the clients whose updates count.
    models : tuple of ndarray
        Weights before each round, and the final ones, shape (size,).
    noise : float
        Largest standard deviation, over rounds, of the noise on each coordinate of what the server sees: updates, or
        the aggregate where that is all.
    """

    updates: tuple[Mapping[int, Floats], ...]
    aggregates: tuple[Floats, ...]
    participants: tuple[NDArray[np.intp], ...]
    models: tuple[Floats, ...]
    noise: float


def federated_averaging(
    network: Network, clients: Sequence[Client], rules: TrainingRules, rng: Generator
) -> TrainingHistory:
    """Train a model without moving records.

    In each round the server sends weights w, each client i makes local steps from there and sends its update u_i, the
    sum of the gradients it stepped along, and the server steps to w - rate * sum_i p_i u_i with
    p_i = n_i / sum_j n_j over the clients that answer: the weighted mean of the clients' weights. Under secure
    aggregation clients weigh themselves before they know who answers, by all that were drawn, and the server divides
    the sum by the weights of those that did.

    Parameters
    ----------
    network : Network
        The model's form.
    clients : sequence of Client
        At least two, none empty.
    rules : TrainingRules
        How it goes.
    rng : Generator
        Draws initial weights, clients and noise.

    Raises
    ------
    ValueError
        If there is one client only, a client is empty, has features that are no finite numbers or another set of
        classes than the first, noise is to be added without clipping, or a gradient is not finite.
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
    up, down = (None if noise is None else noise.multiplier(rules.rounds) for noise in (rules.uplink, rules.downlink))
    moved = Sensitivities(0.0, 0.0)
    seen_noise = 0.0
    for turn in range(1, rules.rounds + 1):
        drawn = np.sort(draw_rng.choice(len(clients), count, replace=False))
        silent = np.sort(draw_rng.permutation(count)[: int(rules.dropout * count)])
        answering = np.delete(drawn, silent)
        sent = local_updates(network, weights, table.take(drawn), rules, turn)
        if up is not None or down is not None:
            moved = Sensitivities.of(rules, table.sizes, drawn, answering)
        if rules.aggregation is None:
            sent = np.delete(sent, silent, axis=0)
            if up is not None:
                sent = noisy(sent, up * moved.uplink, noise_rng)
                seen_noise = max(seen_noise, up * moved.uplink)
            updates.append({int(client): update for client, update in zip(answering, sent, strict=True)})
            aggregate = table.sizes[answering] / table.sizes[answering].sum() @ sent
        else:
            sent = table.sizes[drawn][:, None] / table.sizes[drawn].sum() * sent
            answered = table.sizes[answering].sum() / table.sizes[drawn].sum()
            if up is not None:
                step = rules.aggregation.step
                part = part_of_noise(up, moved.uplink, network.size, step, answering.size)
                sent = noisy_on_grid(sent, part, step, noise_rng)
                seen_noise = max(seen_noise, part * step * np.sqrt(answering.size) / answered)
            updates.append({})
            aggregate = rules.aggregation.total(sent, sum_rng, silent.tolist()) / answered
        change = aggregate if down is None else noisy(aggregate, down * moved.downlink, noise_rng)
        with np.errstate(over="ignore"):
            weights = weights - rules.learning_rate * change
        models.append(weights)
        aggregates.append(aggregate)
        participants.append(answering)
    return TrainingHistory(tuple(updates), tuple(aggregates), tuple(participants), tuple(models), float(seen_noise))


@dataclass(frozen=True)
class Sensitivities:
    """How far one record's replacement moves at most, in L2 norm, what is noised in one round.

    Parameters
    ----------
    uplink : float
        What the server gets: each client's update, or, where they are added up unseen, the weighted sum.
    downlink : float
        The mean update.
    """

    uplink: float
    downlink: float

    @classmethod
    def of(
        cls, rules: TrainingRules, sizes: NDArray[np.intp], drawn: NDArray[np.intp], answering: NDArray[np.intp]
    ) -> Sensitivities:
        """Sensitivities of a round.

        Where the server sees each update, the largest over clients, for n_i records 2C/n_i. Where it sees the sum
        alone, the largest p_i times the client's. The mean's is the largest p_i times the largest over clients.

        Raises
        ------
        ValueError
            If updates are not clipped.
        """
        if rules.clipping is None:
            raise ValueError("clipping: noise needs a bound on what a record can do; clip examples or updates")
        record = np.array([rules.clipping.record_sensitivity(int(size), rules.local_epochs) for size in sizes])
        shares = sizes[drawn] / sizes[drawn].sum()
        uplink = record.max() if rules.aggregation is None else (shares * record[drawn]).max()
        largest = sizes[answering].max() / sizes[answering].sum()
        return cls(float(uplink), float(largest * record.max()))


def local_updates(network: Network, weights: Floats, table: _Table, rules: TrainingRules, turn: int) -> Floats:
    """Clipped updates of some clients, shape (clients, size).

    Raises
    ------
    ValueError
        If a gradient is not finite; names client and round.
    """
    total = np.zeros((table.numbers.size, network.size))
    current = weights
    for _ in range(rules.local_epochs):
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, errors = network.errors(current, table.features, table.labels)
            factors = table.present / table.sizes[:, None]
            if rules.clipping is not None:
                factors = factors * rules.clipping.example_factors(network.example_norms(inputs, errors))
            gradients = network.combined_gradient(inputs, errors, factors)
        bad = ~np.isfinite(gradients).all(axis=1)
        if bad.any():
            client = int(table.numbers[bad][0])
            raise ValueError(f"client {client}, round {turn}: the gradient is not finite; lower the learning rate")
        total += gradients
        with np.errstate(over="ignore"):
            current = weights - rules.learning_rate * total
    return total if rules.clipping is None else rules.clipping.clipped(total)


def check_clients(clients: Sequence[Client]) -> None:
    """Raise ValueError unless clients can train together; names the client."""
    if len(clients) < 2:
        raise ValueError(f"clients: at least 2 are needed, got {len(clients)}")
    for number, client in enumerate(clients):
        if len(client.features) == 0:
            raise ValueError(f"client {number} is empty; every client needs a record")
        if client.features.shape != (len(client.labels), clients[0].features.shape[1]):
            raise ValueError(
                f"client {number}: features of shape {client.features.shape} do not fit {len(client.labels)} labels "
                f"and {clients[0].features.shape[1]} columns"
            )
        if not np.isfinite(client.features).all():
            raise ValueError(f"client {number}: features must be finite numbers")
        if client.classes != clients[0].classes:
            raise ValueError(
                f"client {number}: its classes ({', '.join(client.classes)}) differ from those of client 0 "
                f"({', '.join(clients[0].classes)})"
            )
        if client.labels.min() < 0 or client.labels.max() >= len(client.classes):
            raise ValueError(f"client {number}: a label is none of its {len(client.classes)} classes")


@dataclass(frozen=True)
class _Table:
    """Clients' records side by side, padded to the largest client.

    Attributes
    ----------
    numbers, sizes : ndarray of int, shape (clients,)
    features : ndarray, shape (clients, most, d)
    labels : ndarray of int, shape (clients, most)
    present : ndarray, shape (clients, most)
        1 for a record, 0 for padding.
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
