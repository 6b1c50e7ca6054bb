"""Feed-forward models on tabular features, with per-example gradients, for many clients at once.

Arrays may have leading axes, such as one for clients: weights (..., size), features (..., n, d), labels (..., n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from defenses.base import Parametrized
from metrics.columns import Floats, Integers, check_integer


@dataclass(frozen=True)
class Network:
    """Feed-forward network: linear layers with ReLU between them, softmax and cross-entropy at the end.

    With one layer it is softmax regression. The weight vector concatenates the layers. Each layer holds its matrix of
    shape (inputs, outputs), row by row, then its biases.

    Parameters
    ----------
    sizes : tuple of int
        Number of features, of units in each hidden layer if any, and of classes.
    """

    sizes: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """Length of the weight vector."""
        return sum((inputs + 1) * outputs for inputs, outputs in pairwise(self.sizes))

    def initial(self, rng: Generator) -> Floats:
        """Initial weights, shape (size,).

        Biases are 0. Softmax regression starts at 0, since its loss is convex. Matrices of a deeper network are
        Gaussian with variance 2 / inputs (He et al. 2015).
        """
        layers = []
        for inputs, outputs in pairwise(self.sizes):
            spread = 0.0 if len(self.sizes) == 2 else np.sqrt(2 / inputs)
            layers += [rng.normal(0, spread, inputs * outputs), np.zeros(outputs)]
        return np.concatenate(layers)

    def layers(self, weights: Floats) -> list[tuple[Floats, Floats]]:
        """Matrix, shape (..., inputs, outputs), and biases, shape (..., outputs), of each layer."""
        result, start = [], 0
        for inputs, outputs in pairwise(self.sizes):
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            matrix = weights[..., start:middle].reshape(*weights.shape[:-1], inputs, outputs)
            result.append((matrix, weights[..., middle:end]))
            start = end
        return result

    def activations(self, weights: Floats, features: Floats) -> tuple[list[Floats], Floats]:
        """Inputs of each layer, shape (..., n, inputs), and class probabilities, shape (..., n, classes)."""
        inputs = [features]
        layers = self.layers(weights)
        for number, (matrix, bias) in enumerate(layers):
            output = inputs[-1] @ matrix + bias[..., None, :]
            if number < len(layers) - 1:
                inputs.append(np.maximum(output, 0.0))
        output = np.exp(output - output.max(axis=-1, keepdims=True))
        return inputs, output / output.sum(axis=-1, keepdims=True)

    def probabilities(self, weights: Floats, features: Floats) -> Floats:
        """Class probabilities, shape (..., n, classes)."""
        return self.activations(weights, features)[1]

    def losses(self, weights: Floats, features: Floats, labels: Integers) -> Floats:
        """Cross-entropy of each example, shape (..., n)."""
        own = np.take_along_axis(self.probabilities(weights, features), labels[..., None], axis=-1)[..., 0]
        return -np.log(np.maximum(own, np.finfo(float).tiny))

    def errors(self, weights: Floats, features: Floats, labels: Integers) -> tuple[list[Floats], list[Floats]]:
        """Each layer's inputs and loss derivatives by its outputs, shapes (..., n, inputs) and (..., n, outputs).

        They determine every gradient. Example j's gradient by layer l is the outer product of its inputs (and a 1 for
        the bias) with its derivatives at that layer.
        """
        inputs, probabilities = self.activations(weights, features)
        layers = self.layers(weights)
        error = probabilities.copy()
        own = np.take_along_axis(error, labels[..., None], axis=-1)
        np.put_along_axis(error, labels[..., None], own - 1, axis=-1)
        errors = [error]
        for (matrix, _), reached in zip(layers[:0:-1], inputs[:0:-1], strict=True):
            error = (error @ np.swapaxes(matrix, -1, -2)) * (reached > 0)
            errors.insert(0, error)
        return inputs, errors

    def example_gradients(self, weights: Floats, features: Floats, labels: Integers) -> Floats:
        """Gradient of each example's loss, shape (..., n, size)."""
        inputs, errors = self.errors(weights, features, labels)
        parts = []
        for values, error in zip(inputs, errors, strict=True):
            outer = values[..., :, None] * error[..., None, :]
            parts += [outer.reshape(*outer.shape[:-2], -1), error]
        return np.concatenate(parts, axis=-1)

    @staticmethod
    def example_norms(inputs: list[Floats], errors: list[Floats]) -> Floats:
        """Euclidean norm of each example's gradient, shape (..., n), without forming the gradient.

        The norm of an outer product is the product of the norms (Goodfellow 2015).
        """
        squares = [
            (np.square(values).sum(axis=-1) + 1) * np.square(error).sum(axis=-1)
            for values, error in zip(inputs, errors, strict=True)
        ]
        return np.asarray(np.sqrt(sum(squares[1:], squares[0])))

    @staticmethod
    def combined_gradient(inputs: list[Floats], errors: list[Floats], factors: Floats) -> Floats:
        """Sum of the examples' gradients, weighted by `factors` of shape (..., n); shape (..., size)."""
        parts = []
        for values, error in zip(inputs, errors, strict=True):
            scaled = error * factors[..., None]
            product = np.swapaxes(values, -1, -2) @ scaled
            parts += [product.reshape(*product.shape[:-2], -1), scaled.sum(axis=-2)]
        return np.concatenate(parts, axis=-1)

    def gradient(self, weights: Floats, features: Floats, labels: Integers) -> Floats:
        """Gradient of the mean loss, shape (..., size)."""
        inputs, errors = self.errors(weights, features, labels)
        return self.combined_gradient(inputs, errors, np.full(labels.shape, 1 / labels.shape[-1]))


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
