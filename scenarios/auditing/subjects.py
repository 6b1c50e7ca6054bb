"""What can be audited: each kind of mechanism with its claim, its neighbours and what is measured of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.defense import Defense
from defenses.base.guarantee import Guarantee
from defenses.dp.mechanism import NoiseMechanism
from defenses.dp.randomized_response import RandomizedResponse
from defenses.dp.selection import Selection
from defenses.dp.sparse_vector import SparseVector
from defenses.ldp.frequency_oracle import FrequencyOracle, ReportBatch
from metrics.arrays import Floats
from scenarios.auditing.audit import Neighbours, Subject
from scenarios.auditing.tables import of_defense

# Numbers held at a time.
AT_ONCE = 1 << 22
# Values of a protocol whose likelihoods can be held for a run.
LARGEST_DOMAIN = 1 << 16
# Releases by which sampled noise is compared with what a mechanism releases.
COMPARED = 20
# Runs of mechanisms that cannot run many times at once, and of those of which each run is a whole stream.
ONE_BY_ONE = 20_000


@singledispatch
def subject(mechanism: Any) -> Subject:
    """Make a subject of an audit: the claim of a mechanism, with neighbours that are worst for it as far as known.

    A mechanism of no kind that is known is taken for one that releases a number: it must have `epsilon`, or a
    `guarantee` that states one, and ``release(value, rng)``; it is tried on 0 and on its `sensitivity` (1 where it has
    none).

    Raises
    ------
    ValueError
        If the object claims no epsilon, or there is no way to run it.
    """
    if not callable(getattr(mechanism, "release", None)):
        raise ValueError(f"{type(mechanism).__name__} has neither privatize nor release: there is nothing to run")
    return _numeric(mechanism)


@subject.register
def _of_noise(mechanism: NoiseMechanism) -> Subject:
    return _numeric(mechanism)


@subject.register
def _of_selection(mechanism: Selection) -> Subject:
    """Scores that one neighbour moves up and others down, by the sensitivity: of 2 options and of 16."""
    s = float(mechanism.sensitivity)
    runs = 200_000 if _own(mechanism) else ONE_BY_ONE
    few = np.zeros(2), np.array([s, -s])
    many = np.eye(1, 16)[0] * s, (1 - np.eye(1, 16)[0]) * s
    return _made(
        mechanism,
        [
            _pair("scores (0, 0) or (s, -s)", partial(_chosen, mechanism), few[0], few[1]),
            _pair("scores (s, 0, ... 0) or (0, s, ... s), 16 options", partial(_chosen, mechanism), many[0], many[1]),
        ],
        runs=runs,
    )


@subject.register
def _of_sparse_vector(mechanism: SparseVector) -> Subject:
    """Streams that move by the sensitivity: all values up, or those before the last ones up and the last ones down.

    That the last ones alone are above says the more against the second of the latter streams, the more values precede
    them, up to epsilon; eight are a compromise with how often it happens. With a count above 1 it is too rare to be
    seen in so few runs.
    """
    s, length = float(mechanism.sensitivity), 8
    low = np.full(length + mechanism.count, float(mechanism.threshold) - s)
    high = low + s
    first, second = low.copy(), high.copy()
    first[length:] = high[length:]
    second[length:] = low[length:]
    run = partial(_stream, mechanism)
    return _made(
        mechanism,
        [
            _pair("8 values s below the threshold, then at it; or the reverse", run, first, second),
            _pair("all values s below the threshold or at it", run, low, high),
        ],
        tight=mechanism.count == 1,
        runs=800_000 if _own(mechanism) else ONE_BY_ONE,
    )


@subject.register
def _of_randomized_response(mechanism: RandomizedResponse) -> Subject:
    def sample(value: int, runs: int, rng: Generator) -> Floats:
        return np.asarray(mechanism.release(np.full(runs, value), rng), dtype=float)[:, None]

    return _made(mechanism, [Neighbours("value 0 or 1", partial(sample, 0), partial(sample, 1))])


@subject.register
def _of_protocol(protocol: FrequencyOracle) -> Subject:
    """One report, between the first two values and between the first and the last.

    Measured are the two values' log-likelihoods as the protocol computes them, so that a long report shrinks to what
    matters, and what the report consists of, which does not rely on the protocol: numbers as they are, of rows of bits
    or numbers those of both values.

    Raises
    ------
    ValueError
        If the protocol has more than `LARGEST_DOMAIN` values.
    """
    if protocol.d > LARGEST_DOMAIN:
        raise ValueError(f"{type(protocol).__name__} has {protocol.d} values; audit it with at most {LARGEST_DOMAIN}")
    pairs = dict.fromkeys([(0, 1), (0, protocol.d - 1)])
    return _made(
        protocol,
        [
            _pair(f"value {first} or {second}", partial(_reports, protocol, (first, second)), first, second)
            for first, second in pairs
        ],
    )


@subject.register
def _of_defense(defense: Defense) -> Subject:
    return of_defense(defense)


def _numeric(mechanism: Any) -> Subject:
    """Values 0 and the sensitivity, and both shifted by a third of it."""
    s = float(getattr(mechanism, "sensitivity", 1.0))
    offset = s / 3
    if _whole(mechanism):
        s, offset = float(np.floor(s)), 0.0
        if s < 1:
            raise ValueError("sensitivity: integers that differ are 1 apart, and it is less")
    starts = dict.fromkeys([0.0, offset])
    return _made(
        mechanism,
        [
            _pair(f"value {start:g} or {start + s:g}", partial(_numbers, mechanism), start, start + s)
            for start in starts
        ],
        runs=ONE_BY_ONE if _base(mechanism, int(offset)) is None else 400_000,
    )


def _whole(mechanism: Any) -> bool:
    try:
        mechanism.release(0.5, np.random.default_rng(0))
    except ValueError:
        return True
    return False


def _numbers(mechanism: Any, value: float, runs: int, rng: Generator) -> Floats:
    """Releases of one value. Where they are the same numbers as value plus sampled noise, noise is sampled at once."""
    given = int(value) if _whole(mechanism) else value
    base = _base(mechanism, given)
    if base is not None:
        return base + np.asarray(mechanism.sample(runs, rng), dtype=float)[:, None]
    return _released(mechanism, given, runs, rng)


def _own(mechanism: Any) -> bool:
    """Whether `release` is this project's, whose runs at once do what it does; any other is run itself, as it is."""
    return str(getattr(mechanism.release, "__module__", "")).startswith("defenses.")


def _base(mechanism: Any, value: float) -> float | None:
    """The number to which `release` adds what `sample` draws; None where it does something else."""
    if not _own(mechanism) or not callable(getattr(mechanism, "sample", None)):
        return None
    differences = {
        mechanism.release(value, np.random.default_rng(seed)) - mechanism.sample(1, np.random.default_rng(seed))[0]
        for seed in range(COMPARED)
    }
    return float(differences.pop()) if len(differences) == 1 else None


def _released(mechanism: Any, value: Any, runs: int, rng: Generator) -> Floats:
    answers = [np.ravel(mechanism.release(value, rng)) for _ in range(runs)]
    try:
        return np.array(answers, dtype=float)
    except (TypeError, ValueError):
        name = type(mechanism).__name__
        raise ValueError(f"{name}.release must return numbers, always as many, to be audited") from None


def _chosen(mechanism: Selection, scores: NDArray[np.float64], runs: int, rng: Generator) -> Floats:
    if not _own(mechanism):
        return _released(mechanism, scores, runs, rng)
    return mechanism.repeated(scores, runs, rng).astype(float)[:, None]


def _stream(mechanism: SparseVector, values: NDArray[np.float64], runs: int, rng: Generator) -> Floats:
    """How many values each stream answers, how often it says "above", and before how many it first does."""
    step = max(1, AT_ONCE // values.size)
    parts = []
    for start in range(0, runs, step):
        count = min(step, runs - start)
        answers = mechanism.repeated(values, count, rng) if _own(mechanism) else _streams(mechanism, values, count, rng)
        above = answers == 1
        first = np.where(above.any(axis=1), above.argmax(axis=1), values.size)
        parts.append(np.stack([(answers >= 0).sum(axis=1), above.sum(axis=1), first], axis=1))
    return np.concatenate(parts).astype(float)


def _streams(mechanism: SparseVector, values: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int8]:
    """What `release` answers, padded with -1 where it has stopped, as `SparseVector.repeated` does."""
    answers = np.full((runs, values.size), -1, dtype=np.int8)
    for row in answers:
        given = np.ravel(mechanism.release(values, rng))
        row[: given.size] = given
    return answers


def _reports(protocol: FrequencyOracle, pair: tuple[int, int], value: int, runs: int, rng: Generator) -> Floats:
    step = max(1, AT_ONCE // protocol.d)
    parts = []
    for start in range(0, runs, step):
        reports = protocol.privatize(np.full(min(step, runs - start), value), rng)
        parts.append(_measured(protocol, reports, pair))
    return np.concatenate(parts)


def _measured(protocol: FrequencyOracle, reports: ReportBatch, pair: tuple[int, int]) -> Floats:
    likelihood = protocol.log_likelihood(reports)[:, list(pair)]
    columns: list[Any] = [likelihood[:, 0] - likelihood[:, 1], *likelihood.T]
    for part in reports.parts.values():
        if part.ndim == 1:
            columns.append(part)
            continue
        row = np.unpackbits(part, axis=1) if part.dtype == np.uint8 else part
        columns += [row[:, place] for place in pair if place < row.shape[1]]
    return np.stack(columns, axis=1).astype(float)


def _pair(title: str, run: Callable[[Any, int, Generator], Floats], first: Any, second: Any) -> Neighbours:
    return Neighbours(title, partial(run, first), partial(run, second))


def _made(mechanism: Any, neighbours: Sequence[Neighbours], *, tight: bool = True, runs: int = 200_000) -> Subject:
    guarantee = getattr(mechanism, "guarantee", None)
    claim = guarantee if isinstance(guarantee, Guarantee) else Guarantee(epsilon=getattr(mechanism, "epsilon", None))
    if claim.epsilon is None:
        raise ValueError(f"{type(mechanism).__name__} claims no epsilon")
    return Subject(repr(mechanism), float(claim.epsilon), float(claim.delta or 0.0), tuple(neighbours), tight, runs)
