"""Reconstruct training records from the updates that a server sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from defenses.base.parameters import check_integer
from defenses.base.release import TrainingRelease
from defenses.base.training import TrainedNetwork, TrainingEncoding
from metrics.arrays import Floats, Integers
from metrics.domains import CategoricalDomain

# Largest batch whose 2^B patterns are tried.
LARGEST_BATCH = 12
# Largest batch that is looked for by optimisation: sums over more say next to nothing of one of them.
LARGEST_MATCHED = 32
# A reading whose ones and zeros are off by more, in the mean square, is noise.
TOLERANCE = 0.15


@dataclass(frozen=True)
class Observation:
    """Updates that stem from one batch of records.

    Attributes
    ----------
    size : int
        Number B of records.
    updates : ndarray, shape (rounds, weights)
        Sums of the records' gradients along local steps, up to a factor each.
    models : ndarray, shape (rounds, weights)
        Weights before each.
    """

    size: int
    updates: Floats
    models: Floats

    def layer(self, network: TrainedNetwork, number: int) -> Floats:
        """One layer's gradients, shape (rounds, outputs, inputs + 1), the bias last."""
        matrices, biases = network.layers(self.updates)[number]
        return np.concatenate([np.swapaxes(matrices, 1, 2), biases[:, :, None]], axis=2)


class GradientInversion(Attack):
    """Records from gradients.

    The gradient of a linear layer for one example is the outer product of what leaves it (the errors) and what enters
    it (the features, and 1 for the bias). A batch's update by the first layer, whatever the number of local steps, the
    clipping of examples or of the update, therefore holds in each row a linear combination of the batch's records
    (x, 1). From this:

    - One record: rows divided by their bias entries are the record, exactly.
    - A batch of B <= 12 records whose rows, over all units and rounds, span B dimensions: the records are the vectors
      in that span whose categorical features are 0 or 1 with one 1 a column. B independent features determine a vector
      of the span; all 2^B ways to set them to 0 and 1 are tried, and the B that fit the other features best are
      answered. Without noise this is exact for records that differ in some category.
    - Otherwise, up to 32 records, by optimisation: the label counts follow from the last layer's bias; the average
      person with each label is moved, as little as possible, until the gradient is the one seen.

    What one gradient cannot give: softmax regression in its first round sees of a batch, for each class, the sum of its
    records up to a common vector. With two classes that is one vector for eight records, and the attack is no better
    than the guess: on `adult` and `bank` it names 0.56 and 0.52 of the cells, the guess 0.54 both times, and the two
    classes' exact sums would give 0.57 and 0.54. With 16 classes, a hidden layer or further rounds it is.

    Classes follow from the last layer: an example's error is negative for its own class alone. Where the reading does
    not explain what was seen (noise, too large a batch), the most frequent value of each column is answered, as good
    as a guess can be.

    Parameters
    ----------
    steps : int
        Steps of the optimisation.

    Raises
    ------
    ValueError
        If `steps` is not an integer of at least 1.

    References
    ----------
    Phong et al. (2018), Privacy-preserving deep learning, section 3 (one record); Zhu, Liu and Han (2019), Deep
    leakage from gradients (optimisation); Zhao, Mopuri and Bilen (2020), iDLG, and Wainakh et al. (2021), User-level
    label leakage (labels); Kariyappa et al. (2023), Cocktail party attack (batches as mixtures).
    """

    kind: ClassVar[str] = "training"
    goal: ClassVar[str] = "reconstruction"

    def __init__(self, *, steps: int = 60) -> None:
        check_integer("steps", steps, low=1)
        self.steps = steps

    def run(self, release: TrainingRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Answer for every record of every client, the clients in order; within a client the order is free."""
        encoding = release.encoding
        people = knowledge.auxiliary.frame
        common = most_common(encoding, people)
        frames, confidence = [], []
        for seen in observations(release):
            features, labels, fit = self._read(release, seen, people)
            frame = encoding.decode(features, labels)
            doubtful = fit > TOLERANCE
            frame[doubtful] = common.iloc[[0] * int(doubtful.sum())].to_numpy()
            frames.append(frame)
            confidence.append(np.exp(-fit))
        return ValueClaims(pd.concat(frames, ignore_index=True), np.concatenate(confidence))

    def _read(
        self, release: TrainingRelease, seen: Observation, people: pd.DataFrame
    ) -> tuple[Floats, Integers, Floats]:
        """Features, classes, and how far each record's features are from ones and zeros."""
        network, encoding = release.network, release.encoding
        rows = seen.layer(network, 0)
        flat = rows.reshape(-1, rows.shape[2])
        if seen.size == 1:
            features = single_record(flat)[None]
            return features, _labels(network, seen, features), misfit(encoding, features)
        if seen.size <= LARGEST_BATCH:
            found = records_in_span(encoding, flat, seen.size)
            if found is not None:
                return found, _labels(network, seen, found), misfit(encoding, found)
        if seen.size <= LARGEST_MATCHED and len(seen.updates):
            return matched(network, encoding, seen, people, self.steps)
        return _unread(encoding, seen.size)


def observations(release: TrainingRelease) -> Iterator[Observation]:
    """What was seen of each client in order, or of all together where updates were added up unseen."""
    models = np.stack(release.models[:-1])
    if not any(release.updates):
        yield Observation(sum(release.sizes), np.stack(release.aggregates), models)
        return
    for client, size in enumerate(release.sizes):
        rounds = [turn for turn, updates in enumerate(release.updates) if client in updates]
        updates = [release.updates[turn][client] for turn in rounds]
        yield Observation(size, np.reshape(updates, (len(rounds), models.shape[1])), models[rounds])


def single_record(rows: Floats) -> Floats:
    """The record (x, 1) of which every row is a multiple, shape (d,): least squares of the rows on their last entries.

    Parameters
    ----------
    rows : ndarray, shape (outputs, d + 1)
        Gradient of a linear layer for one example, the bias last; one bias entry is not 0.
    """
    bias = rows[:, -1]
    weight = bias @ bias
    return np.asarray(bias @ rows[:, :-1] / weight) if weight > 0 else np.zeros(rows.shape[1] - 1)


def records_in_span(encoding: TrainingEncoding, rows: Floats, size: int) -> Floats | None:
    """The `size` encoded records, shape (size, d), that best fit the span of the rows; None if it has fewer dimensions.

    Parameters
    ----------
    encoding : TrainingEncoding
        How records are encoded.
    rows : ndarray, shape (rows, d + 1)
        Linear combinations of (x, 1).
    size : int
        Number of records, at most 12.
    """
    from scipy.linalg import qr

    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    if values.size < size or values[size - 1] <= 1e-10 * values[0]:
        return None
    basis = vectors[:size]
    binary = categorical_features(encoding)
    # The features that depend least on each other, so that rounding errors stay small.
    _, triangle, order = qr(basis[:, binary], mode="economic", pivoting=True)
    depth = np.abs(np.diag(triangle))
    independent = binary[order[: int((depth > 1e-8 * depth[0]).sum())]]
    patterns = (np.arange(2**independent.size)[:, None] >> np.arange(independent.size)) & 1
    mixed = np.linalg.lstsq(basis[:, independent].T, patterns.T.astype(float), rcond=None)[0].T
    vectors = mixed @ basis
    fit = misfit(encoding, vectors[:, :-1]) + np.abs(vectors[:, -1] - 1)
    return np.asarray(vectors[np.argsort(fit, kind="stable")[:size], :-1])


def matched(
    network: TrainedNetwork,
    encoding: TrainingEncoding,
    seen: Observation,
    people: pd.DataFrame,
    steps: int,
) -> tuple[Floats, Integers, Floats]:
    """Records whose first gradient is the one seen, near to the average person with each label.

    The gradient's rows are C (X, 1) with the errors C that the model makes on the records; holding C, X takes a least
    squares step and is put back among mixtures of categories and numbers in [0, 1]; then C is computed anew.
    """
    weights, update = seen.models[0], seen.updates[0]
    labels = _label_counts(network, encoding, seen, people)
    average = _average_people(encoding, people, len(encoding.classes))
    features = average[labels]
    matrix, bias = network.layers(update)[0]
    wanted = np.concatenate([matrix, bias[None]]).T
    for _ in range(steps):
        errors = _first_errors(network, weights, features, labels)
        gap = wanted - errors.T @ np.column_stack([features, np.ones(seen.size)])
        features = features + errors @ gap[:, :-1] / max(float(np.linalg.norm(errors, 2)) ** 2, 1e-300)
        features = _plausible(encoding, features)
    # Noise cannot be explained by records.
    explained = _explained(network, weights, features, labels, wanted)
    return features, labels, np.full(seen.size, 0.0 if explained > 0.9 else np.inf)


def misfit(encoding: TrainingEncoding, features: Floats) -> Floats:
    """Root mean square distance of the categorical features from the nearest category, shape (n,)."""
    total = np.zeros(len(features))
    count = 0
    for name, part in encoding.slices.items():
        if isinstance(encoding.domains[name], CategoricalDomain):
            block = features[:, part]
            nearest = np.zeros_like(block)
            np.put_along_axis(nearest, block.argmax(axis=1)[:, None], 1.0, axis=1)
            total += np.square(block - nearest).sum(axis=1)
            count += 1
    return np.sqrt(total / max(1, count))


def categorical_features(encoding: TrainingEncoding) -> Integers:
    """Positions of the features that are 0 or 1."""
    kept = [
        np.arange(part.start, part.stop) if isinstance(encoding.domains[name], CategoricalDomain) else [part.stop - 1]
        for name, part in encoding.slices.items()
    ]
    return np.concatenate(kept).astype(np.intp)


def most_common(encoding: TrainingEncoding, people: pd.DataFrame) -> pd.DataFrame:
    """One record of the most frequent value of each column; of numbers, the most frequent one in the fullest bin."""
    people = people[list(encoding.columns)]
    best = {}
    for name, codes in zip(encoding.columns, encoding.codes(people), strict=True):
        inside = people[name][codes == np.bincount(codes).argmax()]
        best[name] = [inside.mode(dropna=False).iloc[0]]
    return pd.DataFrame(best)


def _unread(encoding: TrainingEncoding, size: int) -> tuple[Floats, Integers, Floats]:
    width = max(part.stop for part in encoding.slices.values())
    return np.zeros((size, width)), np.zeros(size, dtype=np.intp), np.full(size, np.inf)


def _labels(network: TrainedNetwork, seen: Observation, features: Floats) -> Integers:
    """Class of each record: the output with the most negative error, solved for from the last layer's gradients."""
    last = seen.layer(network, -1)
    errors = np.zeros((len(features), last.shape[1]))
    for weights, rows in zip(seen.models, last, strict=True):
        inputs = network.activations(weights, features)[0][-1]
        known = np.column_stack([inputs, np.ones(len(inputs))])
        errors += np.linalg.lstsq(known.T, rows.T, rcond=None)[0]
    return np.asarray(errors.argmin(axis=1))


def _label_counts(
    network: TrainedNetwork, encoding: TrainingEncoding, seen: Observation, people: pd.DataFrame
) -> Integers:
    """Classes of the batch, sorted: the last bias's gradient is the mean of p_k - [y = k] over the batch."""
    bias = network.layers(seen.updates[0])[-1][1]
    expected = network.probabilities(seen.models[0], encoding.features(people)).mean(axis=0)
    shares = np.clip(np.nan_to_num(expected - bias), 0, None)
    total = shares.sum()
    shares = shares / total if total > 0 else expected
    counts = np.floor(shares * seen.size).astype(np.intp)
    left = np.argsort(counts - shares * seen.size, kind="stable")[: seen.size - counts.sum()]
    counts[left] += 1
    return np.repeat(np.arange(counts.size), counts)


def _average_people(encoding: TrainingEncoding, people: pd.DataFrame, classes: int) -> Floats:
    """Mean features of each class, shape (classes, d); of numbers, and for a class that is missing, the most common."""
    common = encoding.features(most_common(encoding, people))
    features, labels = encoding.features(people), encoding.labels(people)
    result = np.repeat(common, classes, axis=0)
    categories = categorical_features(encoding)
    for label in np.unique(labels):
        result[label, categories] = features[labels == label][:, categories].mean(axis=0)
    return result


def _first_errors(network: TrainedNetwork, weights: Floats, features: Floats, labels: Integers) -> Floats:
    """Part of each record in the first layer's bias gradient, shape (n, outputs)."""
    gradients = network.example_gradients(weights, features, labels)
    return network.layers(gradients)[0][1] / len(features)


def _explained(network: TrainedNetwork, weights: Floats, features: Floats, labels: Integers, wanted: Floats) -> float:
    """Share of the gradient's square norm that the records explain, at most 1, at any scale of theirs."""
    errors = _first_errors(network, weights, features, labels)
    made = errors.T @ np.column_stack([features, np.ones(len(features))])
    norms = np.square(wanted).sum() * np.square(made).sum()
    return float(max(0.0, (wanted * made).sum()) ** 2 / norms) if norms > 0 else 0.0


def _plausible(encoding: TrainingEncoding, features: Floats) -> Floats:
    """Nearest mixtures of categories, approximately, and numbers in [0, 1]."""
    result = np.clip(features, 0, 1)
    for name, part in encoding.slices.items():
        if isinstance(encoding.domains[name], CategoricalDomain):
            result[:, part] /= np.maximum(result[:, part].sum(axis=1, keepdims=True), 1e-12)
    return result
