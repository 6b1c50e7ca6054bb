"""What a training discloses of its model: encoding of records from public domains, network, and bound on examples.

Arrays of a network may have leading axes, such as one for clients: weights (..., size), features (..., n, d), labels
(..., n).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.columns import codes_in_domain
from defenses.base.microdata import Microdata
from metrics.columns import (
    CategoricalDomain,
    Domain,
    Floats,
    Integers,
    NumericDomain,
    numbers_of,
    refuse,
    refuse_rows,
    require,
    require_column,
)


@dataclass(frozen=True)
class Encoding:
    """Encoding of records as features and labels; it can be inverted.

    A categorical column is one-hot encoded, with a further feature for missing values. A number becomes its position
    in [0, 1] on a public scale, and a feature that is 1 where the number is missing. On this scale all public bins
    are equally wide.

    Parameters
    ----------
    domains : mapping of str to Domain
        Public domains of the input columns, in order.
    target : str
        The column to predict.
    classes : tuple of str
        Its public categories.
    """

    domains: Mapping[str, Domain]
    target: str
    classes: tuple[str, ...]

    @classmethod
    def of(cls, records: Microdata, target: str | None = None) -> Encoding:
        """Encoding of a table; every released column except the target is an input.

        Parameters
        ----------
        records : Microdata
            Only its roles and domains are used, not its records.
        target : str, optional
            The column to predict; the first sensitive one by default.

        Raises
        ------
        ValueError
            If there is no such column, it has fewer than two categories, there is no input, or a column has no
            declared domain.
        """
        refuse(
            target is None and not records.sensitive,
            "target: the table has no sensitive column to predict; name a target",
        )
        name = records.sensitive[0] if target is None else target
        records.check_released("target", name)
        records.check_public(records.released_columns)
        domain = records.domains[name]
        if not isinstance(domain, CategoricalDomain) or domain.size < 2:
            raise ValueError(f"target: column {name!r} must have at least two categories")
        inputs = {column: records.domains[column] for column in records.released_columns if column != name}
        require(inputs, f"target: there is no column to predict {name!r} from")
        return cls(inputs, name, domain.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Input columns, then the target."""
        return (*self.domains, self.target)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Positions of each input column's features; the last one indicates a missing value."""
        result, start = {}, 0
        for name, domain in self.domains.items():
            width = 1 + (domain.size if isinstance(domain, CategoricalDomain) else 1)
            result[name] = slice(start, start + width)
            start += width
        return result

    @cached_property
    def width(self) -> int:
        """Number of features."""
        return max(int(part.stop) for part in self.slices.values())

    def features(self, frame: pd.DataFrame) -> Floats:
        """Features of records, shape (n, width), each in [0, 1].

        Raises
        ------
        ValueError
            If a column is missing or holds an unknown category or an infinity; the message names it.
        """
        result = np.zeros((len(frame), self.width))
        for name, domain in self.domains.items():
            require_column(frame.columns, name)
            block = result[:, self.slices[name]]
            if isinstance(domain, CategoricalDomain):
                block[np.arange(len(frame)), codes_in_domain(frame[name], domain)] = 1
            else:
                values = numbers_of(frame[name])
                refuse(np.isinf(values).any(), f"column {name!r} holds an infinity; numbers must be finite")
                block[:, 1] = np.isnan(values)
                block[:, 0] = np.where(np.isnan(values), 0.0, np.interp(values, *_scale(domain)))
        return result

    def labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Class of each record, shape (n,).

        Raises
        ------
        ValueError
            If the target is missing, as a column or in a record, or holds an unknown class.
        """
        require_column(frame.columns, self.target)
        codes = codes_in_domain(frame[self.target], CategoricalDomain(self.classes))
        refuse_rows(
            codes == len(self.classes), lambda row: f"column {self.target!r}, row {row + 1}: the class is missing"
        )
        return codes

    def decode(self, features: Floats, labels: NDArray[np.intp] | None = None) -> pd.DataFrame:
        """Decoded records: the category with the largest feature, the number at a position.

        Parameters
        ----------
        features : ndarray, shape (n, width)
            Features, possibly noisy.
        labels : ndarray of int, shape (n,), optional
            Classes; without them the frame has no target.
        """
        columns: dict[str, Any] = {}
        for name, domain in self.domains.items():
            block = features[:, self.slices[name]]
            if isinstance(domain, CategoricalDomain):
                columns[name] = np.array([*domain.categories, None], dtype=object)[block.argmax(axis=1)]
            else:
                edges, scaled = _scale(domain)
                values = np.interp(block[:, 0], scaled, edges)
                columns[name] = np.where(block[:, 1] > 0.5, np.nan, np.round(values) if domain.integer else values)
        if labels is not None:
            columns[self.target] = np.array(self.classes, dtype=object)[labels]
        return pd.DataFrame(columns, index=pd.RangeIndex(len(features)))

    def codes(self, frame: pd.DataFrame) -> list[NDArray[np.intp]]:
        """Category or public bin of each cell, as one array of shape (n,) per column; the target comes last.

        Raises
        ------
        ValueError
            If a column is missing or holds an unknown category.
        """
        domains = {**self.domains, self.target: CategoricalDomain(self.classes)}
        for name in domains:
            require_column(frame.columns, name)
        return [codes_in_domain(frame[name], domain) for name, domain in domains.items()]


def _scale(domain: NumericDomain) -> tuple[Floats, Floats]:
    """Ends of the public bins and their positions in [0, 1]; a range of one value has the position 0."""
    edges = np.array([domain.low, *domain.cuts, domain.high])
    edges = edges[np.concatenate([[True], np.diff(edges) > 0])]
    return edges, np.linspace(0, 1, edges.size) if edges.size > 1 else np.zeros(1)


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


class ExampleBound(Protocol):
    """The public rule by which clients scale down the gradients of examples."""

    def example_factors(self, norms: Floats) -> Floats:
        """Factor for each example's gradient, given the gradient's norm, shape (n,)."""
