"""Architectures of feed-forward models on tabular features."""

from __future__ import annotations

from abc import ABC, abstractmethod

from defenses.base import Network as Network
from defenses.base import Parametrized
from metrics.columns import check_integer


class Architecture(Parametrized, ABC):
    """Architecture of a model for any number of features and classes."""

    @abstractmethod
    def network(self, features: int, classes: int) -> Network:
        """Network for the given numbers of features and classes."""


class SoftmaxRegression(Architecture):
    """Multinomial logistic regression."""

    def network(self, features: int, classes: int) -> Network:
        """One layer."""
        return Network((features, classes))


class OneHiddenLayer(Architecture):
    """A network with one hidden layer of rectified linear units.

    Parameters
    ----------
    hidden : int
        Number of hidden units, at least 1.

    Raises
    ------
    ValueError
        If `hidden` is not an integer of at least 1.
    """

    def __init__(self, *, hidden: int = 16) -> None:
        self.hidden = check_integer("hidden", hidden, low=1)

    def network(self, features: int, classes: int) -> Network:
        """Two layers."""
        return Network((features, self.hidden, classes))
