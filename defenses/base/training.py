"""What a training release discloses of its model, as protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.domains import Domain


class ExampleBound(Protocol):
    """The public rule by which clients scale examples' gradients down."""

    def example_factors(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each example's gradient is multiplied by, given its norm, shape (n,)."""


class TrainedNetwork(Protocol):
    """The public form of a model in training; weights are one vector, shape (size,)."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of features, of units of hidden layers if any, of classes."""

    def layers(self, weights: NDArray[np.float64]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Matrix, shape (inputs, outputs), and biases, shape (outputs,), of each layer."""

    def activations(
        self, weights: NDArray[np.float64], features: NDArray[np.float64]
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Inputs of each layer, shape (n, inputs), and class probabilities, shape (n, classes)."""

    def probabilities(self, weights: NDArray[np.float64], features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class probabilities, shape (n, classes)."""

    def losses(
        self, weights: NDArray[np.float64], features: NDArray[np.float64], labels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Loss of each example, shape (n,)."""

    def example_gradients(
        self, weights: NDArray[np.float64], features: NDArray[np.float64], labels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Gradient of each example's loss, shape (n, size)."""

    def gradient(
        self, weights: NDArray[np.float64], features: NDArray[np.float64], labels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Gradient of the mean loss, shape (size,)."""


class TrainingEncoding(Protocol):
    """The public way from records to features and labels, and back."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Input columns, then the target."""

    @property
    def target(self) -> str:
        """The column to be predicted."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Its categories."""

    @property
    def slices(self) -> Mapping[str, slice]:
        """Where each input column's features stand; the last of them says that the value is missing."""

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Public domains of the input columns."""

    def features(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Features of records, shape (n, width)."""

    def labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Class of each record, shape (n,)."""

    def decode(self, features: NDArray[np.float64], labels: NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Records that features and labels stand for."""

    def same_cells(self, left: pd.DataFrame, right: pd.DataFrame) -> NDArray[np.bool_]:
        """Which cells of two tables agree, shape (n, columns)."""

    def codes(self, frame: pd.DataFrame) -> list[NDArray[np.intp]]:
        """Category or public bin of each cell, one array of shape (n,) a column."""
