"""Protocols of what a training release discloses about its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.columns import Domain


class ExampleBound(Protocol):
    """The public rule by which clients scale down the gradients of examples."""

    def example_factors(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Factor for each example's gradient, given the gradient's norm, shape (n,)."""


class TrainedNetwork(Protocol):
    """The public architecture of a model in training; weights are one vector, shape (size,)."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of features, of units of each hidden layer, and of classes."""

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
    """The public encoding of records as features and labels, and its inverse."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Input columns, then the target."""

    @property
    def target(self) -> str:
        """The column to predict."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Its categories."""

    @property
    def slices(self) -> Mapping[str, slice]:
        """Features of each input column; the last one of a column indicates a missing value."""

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Public domains of the input columns."""

    def features(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Features of records, shape (n, width)."""

    def labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Class of each record, shape (n,)."""

    def decode(self, features: NDArray[np.float64], labels: NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Records that the features and labels encode."""

    def codes(self, frame: pd.DataFrame) -> list[NDArray[np.intp]]:
        """Category or public bin of each cell, one array of shape (n,) a column."""
