"""Gradient inversion: reconstruction of training records from updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, ValueClaims
from defenses.base import Encoding, Network, TrainingRelease
from metrics.columns import CategoricalDomain, Floats, Integers, check_integer

# Largest batch whose 2^B patterns are enumerated.
LARGEST_BATCH = 12
# Largest batch for optimisation: a sum over more records carries almost no information about one of them.
LARGEST_MATCHED = 32
# Largest root mean square deviation of one-hot features from 0 and 1; reconstructions beyond it are noise.
TOLERANCE = 0.15


@dataclass(frozen=True)
class Observation:
    """Updates observed for one batch of records.

    - size: Number B of records.
    - updates, shape (rounds, weights): Sums of the records' gradients along local steps, each up to a factor.
    - models, shape (rounds, weights): Weights before each round.
    """

    size: int
    updates: Floats
    models: Floats

    def layer(self, network: Network, number: int) -> Floats:
        """One layer's gradients, shape (rounds, outputs, inputs + 1), the bias last."""
        matrices, biases = network.layers(self.updates)[number]
        return np.concatenate([np.swapaxes(matrices, 1, 2), biases[:, :, None]], axis=2)


class GradientInversion(Attack):
    """Gradient inversion: reconstruct training records from updates of the first layer.

    For one example, the gradient of a linear layer is the outer product of errors and inputs. Errors are derivatives by
    the outputs; inputs are the features, and 1 for the bias. Each row of a batch's first-layer update is therefore a
    linear combination of the batch's records (x, 1). This holds for any number of local steps, and under clipping of
    examples or updates.

    - One record: rows divided by their bias entries equal the record exactly.
    - A batch of B <= 12 records, if its rows over all units and rounds span B dimensions: the records are the vectors
      in this span whose categorical features are one-hot. B independent features determine a vector of the span. All
      2^B settings of these features to 0 and 1 are tried. The answer is the B vectors that fit the other features best.
      Without noise it is exact for records that differ in some category.
    - Otherwise, up to 32 records: by optimisation. The label counts follow from the last layer's bias. The average
      person of each label is moved as little as possible until it explains the observed gradient.

    Classes follow from the last layer: an example's error is negative only for its class. Where the reconstruction does
    not explain the observation (noise, large batches), the answer is the baseline: each column's most frequent value.

    One gradient has limits. In its first round, softmax regression reveals for each class the sum of a batch's records,
    up to a common vector. With two classes this is one vector for eight records, and the attack does not beat the
    baseline. On `adult` it recovers 0.56 of the cells and the baseline 0.54; the exact sums would give 0.57. On `bank`
    it recovers 0.52 and the baseline 0.54, as the exact sums would. With 16 classes, a hidden layer or more rounds it
    beats the baseline.

    Parameters
    ----------
    steps : int
        Number of optimisation steps.

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

    called = ("Gradient inversion",)

    kind = "training"
    goal = "reconstruction"

    def __init__(self, *, steps: int = 60) -> None:
        self.steps = check_integer("steps", steps, low=1)

    def run(self, release: TrainingRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Reconstruct every record of every client; clients are in order, records of a client in any order."""
        encoding = release.encoding
        people = knowledge.auxiliary.frame
        common = most_common(encoding, people)
        frames, confidence = [], []
        for observed in observations(release):
            features, labels, fit = self._read(release, observed, people)
            frame = encoding.decode(features, labels)
            doubtful = fit > TOLERANCE
            frame[doubtful] = common.iloc[[0] * int(doubtful.sum())].to_numpy()
            frames.append(frame)
            confidence.append(np.exp(-fit))
        return ValueClaims(pd.concat(frames, ignore_index=True), np.concatenate(confidence))

    def _read(
        self, release: TrainingRelease, observed: Observation, people: pd.DataFrame
    ) -> tuple[Floats, Integers, Floats]:
        """Features, classes, and each record's deviation from one-hot features."""
        network, encoding = release.network, release.encoding
        rows = observed.layer(network, 0)
        flat = rows.reshape(-1, rows.shape[2])
        if observed.size == 1:
            features = single_record(flat)[None]
            return features, _labels(network, observed, features), misfit(encoding, features)
        if observed.size <= LARGEST_BATCH:
            records = records_in_span(encoding, flat, observed.size)
            if records is not None:
                return records, _labels(network, observed, records), misfit(encoding, records)
        if observed.size <= LARGEST_MATCHED and len(observed.updates):
            return matched(network, encoding, observed, people, self.steps)
        nothing = np.zeros((observed.size, flat.shape[1] - 1))
        return nothing, np.zeros(observed.size, dtype=np.intp), np.full(observed.size, np.inf)


def observations(release: TrainingRelease) -> Iterator[Observation]:
    """Observations of each client in order, or one of all clients together under secure aggregation."""
    models = np.stack(release.models[:-1])
    if not any(release.updates):
        yield Observation(sum(release.sizes), np.stack(release.aggregates), models)
        return
    for client, size in enumerate(release.sizes):
        rounds = [turn for turn, updates in enumerate(release.updates) if client in updates]
        updates = [release.updates[turn][client] for turn in rounds]
        yield Observation(size, np.reshape(updates, (len(rounds), models.shape[1])), models[rounds])


def single_record(rows: Floats) -> Floats:
    """Record x, shape (d,), such that every row is a multiple of (x, 1), by least squares on the last entries.

    - rows, shape (outputs, d + 1): Gradient of a linear layer for one example, the bias last. Zeros are returned if all
      bias entries are 0.
    """
    bias = rows[:, -1]
    weight = bias @ bias
    return np.asarray(bias @ rows[:, :-1] / weight) if weight > 0 else np.zeros(rows.shape[1] - 1)


def records_in_span(encoding: Encoding, rows: Floats, size: int) -> Floats | None:
    """Encoded records, shape (size, d), that best fit the span of the rows; None if it has fewer dimensions.

    - rows, shape (rows, d + 1): Linear combinations of (x, 1).
    - size: Number of records, at most 12.
    """
    from scipy.linalg import qr

    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    if values.size < size or values[size - 1] <= 1e-10 * values[0]:
        return None
    basis = vectors[:size]
    binary = categorical_features(encoding)
    # Choose nearly independent features, which keeps rounding errors small.
    _, triangle, order = qr(basis[:, binary], mode="economic", pivoting=True)
    depth = np.abs(np.diag(triangle))
    independent = binary[order[: int((depth > 1e-8 * depth[0]).sum())]]
    patterns = (np.arange(2**independent.size)[:, None] >> np.arange(independent.size)) & 1
    mixed = np.linalg.lstsq(basis[:, independent].T, patterns.T.astype(float), rcond=None)[0].T
    vectors = mixed @ basis
    fit = misfit(encoding, vectors[:, :-1]) + np.abs(vectors[:, -1] - 1)
    return np.asarray(vectors[np.argsort(fit, kind="stable")[:size], :-1])


def matched(
    network: Network,
    encoding: Encoding,
    observed: Observation,
    people: pd.DataFrame,
    steps: int,
) -> tuple[Floats, Integers, Floats]:
    """Records that explain the first observed gradient, close to the average person of each label.

    The gradient's rows are C (X, 1), where C are the model's errors on the records X. Each iteration takes a least
    squares step in X for fixed C. It then projects X to mixtures of categories and numbers in [0, 1], and recomputes C.
    """
    weights, update = observed.models[0], observed.updates[0]
    labels = _label_counts(network, encoding, observed, people)
    features = _average_people(encoding, people, len(encoding.classes))[labels]
    matrix, bias = network.layers(update)[0]
    wanted = np.concatenate([matrix, bias[None]]).T
    for _ in range(steps):
        errors = _first_errors(network, weights, features, labels)
        gap = wanted - errors.T @ np.column_stack([features, np.ones(observed.size)])
        features = features + errors @ gap[:, :-1] / max(float(np.linalg.norm(errors, 2)) ** 2, 1e-300)
        features = _plausible(encoding, features)
    # Records cannot explain noise.
    explained = _explained(network, weights, features, labels, wanted)
    return features, labels, np.full(observed.size, 0.0 if explained > 0.9 else np.inf)


def misfit(encoding: Encoding, features: Floats) -> Floats:
    """Root mean square distance of categorical features from the nearest category, shape (n,)."""
    total = np.zeros(len(features))
    parts = categorical_slices(encoding)
    for part in parts:
        block = features[:, part]
        nearest = np.eye(block.shape[1])[block.argmax(axis=1)]
        total += np.square(block - nearest).sum(axis=1)
    return np.sqrt(total / max(1, len(parts)))


def categorical_slices(encoding: Encoding) -> list[slice]:
    """Features of each column of categories."""
    return [part for name, part in encoding.slices.items() if isinstance(encoding.domains[name], CategoricalDomain)]


def categorical_features(encoding: Encoding) -> Integers:
    """Positions of the features that are 0 or 1: those of categories, and whether a number is missing."""
    positions = [
        np.arange(part.start, part.stop) if isinstance(encoding.domains[name], CategoricalDomain) else [part.stop - 1]
        for name, part in encoding.slices.items()
    ]
    return np.concatenate(positions).astype(np.intp)


def most_common(encoding: Encoding, people: pd.DataFrame) -> pd.DataFrame:
    """One record of each column's most frequent value; for numbers, that of the fullest bin."""
    people = people[list(encoding.columns)]
    best = {}
    for name, codes in zip(encoding.columns, encoding.codes(people), strict=True):
        inside = people[name][codes == np.bincount(codes).argmax()]
        best[name] = [inside.mode(dropna=False).iloc[0]]
    return pd.DataFrame(best)


def _labels(network: Network, observed: Observation, features: Floats) -> Integers:
    """Class of each record: the output with the most negative error, solved from the last layer's gradients."""
    last = observed.layer(network, -1)
    errors = np.zeros((len(features), last.shape[1]))
    for weights, rows in zip(observed.models, last, strict=True):
        inputs = network.activations(weights, features)[0][-1]
        with_bias = np.column_stack([inputs, np.ones(len(inputs))])
        errors += np.linalg.lstsq(with_bias.T, rows.T, rcond=None)[0]
    return np.asarray(errors.argmin(axis=1))


def _label_counts(network: Network, encoding: Encoding, observed: Observation, people: pd.DataFrame) -> Integers:
    """Sorted classes of the batch; the last bias's gradient is the mean of p_k - [y = k] over the batch."""
    bias = network.layers(observed.updates[0])[-1][1]
    expected = network.probabilities(observed.models[0], encoding.features(people)).mean(axis=0)
    shares = np.clip(np.nan_to_num(expected - bias), 0, None)
    total = shares.sum()
    shares = shares / total if total > 0 else expected
    counts = np.floor(shares * observed.size).astype(np.intp)
    left = np.argsort(counts - shares * observed.size, kind="stable")[: observed.size - counts.sum()]
    counts[left] += 1
    return np.repeat(np.arange(counts.size), counts)


def _average_people(encoding: Encoding, people: pd.DataFrame, classes: int) -> Floats:
    """Mean features per class, shape (classes, d); the most common value for numbers and for absent classes."""
    common = encoding.features(most_common(encoding, people))
    features, labels = encoding.features(people), encoding.labels(people)
    result = np.repeat(common, classes, axis=0)
    categories = categorical_features(encoding)
    for label in np.unique(labels):
        result[label, categories] = features[labels == label][:, categories].mean(axis=0)
    return result


def _first_errors(network: Network, weights: Floats, features: Floats, labels: Integers) -> Floats:
    """Contribution of each record to the first layer's bias gradient, shape (n, outputs)."""
    gradients = network.example_gradients(weights, features, labels)
    return network.layers(gradients)[0][1] / len(features)


def _explained(network: Network, weights: Floats, features: Floats, labels: Integers, wanted: Floats) -> float:
    """Squared cosine similarity of the observed gradient and that of the records; 0 if the cosine is negative."""
    errors = _first_errors(network, weights, features, labels)
    explained = errors.T @ np.column_stack([features, np.ones(len(features))])
    norms = np.square(wanted).sum() * np.square(explained).sum()
    return float(max(0.0, (wanted * explained).sum()) ** 2 / norms) if norms > 0 else 0.0


def _plausible(encoding: Encoding, features: Floats) -> Floats:
    """Features projected to numbers in [0, 1] and, approximately, to mixtures of categories."""
    result = np.clip(features, 0, 1)
    for part in categorical_slices(encoding):
        result[:, part] /= np.maximum(result[:, part].sum(axis=1, keepdims=True), 1e-12)
    return result
