"""Splits of records over clients."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.random import Generator

from defenses.base import Parametrized
from metrics.columns import Integers, check_integer, check_real, refuse, require


class Split(Parametrized, ABC):
    """Distribution of records over clients; the clients' sizes are public and fixed beforehand.

    Attributes
    ----------
    clients : int
        Number of clients, at least 2.
    """

    def __init__(self, *, clients: int = 10) -> None:
        self.clients = check_integer("clients", clients, low=2)

    @abstractmethod
    def sizes(self, records: int) -> Integers:
        """Number of records of each client, shape (clients,).

        Raises
        ------
        ValueError
            If a client would be empty.
        """

    def assign(self, labels: Integers, rng: Generator) -> Integers:
        """Client of each record, shape (n,), given the records' classes, shape (n,); at random by default."""
        return rng.permutation(np.repeat(np.arange(self.clients), self.sizes(labels.size)))


class EqualSplit(Split):
    """Random split into clients of equal size, up to one record.

    Parameters
    ----------
    clients : int
        Number of clients, at least 2.

    Raises
    ------
    ValueError
        If `clients` is not an integer of at least 2.
    """

    def sizes(self, records: int) -> Integers:
        """Equal sizes; the first clients take the remainder, one record each."""
        _check_enough(self.clients, records)
        return np.full(self.clients, records // self.clients) + (np.arange(self.clients) < records % self.clients)


class UnequalSplit(Split):
    """Random split into clients whose sizes grow linearly.

    Parameters
    ----------
    clients : int
        Number of clients, at least 2.
    ratio : float
        Size of the largest client over that of the smallest, at least 1.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def __init__(self, *, clients: int = 10, ratio: float = 10.0) -> None:
        super().__init__(clients=clients)
        self.ratio = check_real("ratio", ratio, low=1)

    def sizes(self, records: int) -> Integers:
        """Sizes proportional to 1, ..., ratio, rounded so that they add up to all records."""
        _check_enough(self.clients, records)
        shares = np.linspace(1, self.ratio, self.clients)
        ends = np.round(np.cumsum(shares) / shares.sum() * records).astype(np.intp)
        sizes: Integers = np.diff(ends, prepend=0)
        refuse(
            (sizes < 1).any(), f"ratio: at {self.ratio:g} the smallest of {self.clients} clients would have no record"
        )
        return sizes


class LabelSkewedSplit(EqualSplit):
    """Split into clients of equal size with different class proportions (label skew).

    Each client draws its class proportions from a Dirichlet distribution centred at the table's proportions, and takes
    records accordingly. Where a class has run out, the client takes records of other classes.

    Parameters
    ----------
    clients : int
        Number of clients, at least 2.
    concentration : float
        Concentration of the Dirichlet distribution, positive: near 0 a client has one class, at large values the
        table's proportions.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Hsu, Qi and Brown (2019), Measuring the effects of non-identical data distribution, section 3.
    """

    def __init__(self, *, clients: int = 10, concentration: float = 1.0) -> None:
        super().__init__(clients=clients)
        self.concentration = check_real("concentration", concentration, low=0, open_low=True)

    def assign(self, labels: Integers, rng: Generator) -> Integers:
        """Client of each record; clients take their records in random order."""
        sizes = self.sizes(labels.size)
        _, classes, left = np.unique(labels, return_inverse=True, return_counts=True)
        prior = left / left.sum()
        order = rng.permutation(labels.size)
        pools = [order[classes[order] == label] for label in range(left.size)]
        result = np.empty(labels.size, dtype=np.intp)
        for client in rng.permutation(self.clients):
            shares = rng.dirichlet(np.maximum(self.concentration * prior, 1e-3))
            wanted = np.minimum(rng.multinomial(sizes[client], shares), left)
            # Replace missing records of a class by records of the others, in proportion to what is left.
            missing = int(sizes[client] - wanted.sum())
            if missing:
                wanted = wanted + rng.multivariate_hypergeometric(left - wanted, missing)
            for label, count in enumerate(wanted):
                result[pools[label][:count]] = client
                pools[label] = pools[label][count:]
            left = left - wanted
        return result


def _check_enough(clients: int, records: int) -> None:
    require(records >= clients, f"clients: {records} records leave some of {clients} clients empty")
