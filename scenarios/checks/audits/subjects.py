"""Subjects of audits: neighbouring inputs and output features for each kind of mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, singledispatch
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses import Defense, GraphCurator, Guarantee, Microdata
from defenses.base.queries import DegreeCounts, EdgeCount, Query, TriangleCount
from defenses.dp import BinaryTree, RandomizedResponse, SparseVector
from defenses.dp.mechanism import NoiseMechanism, draws_in_bulk
from defenses.dp.selection import Selection
from defenses.ldp import FrequencyOracle, NumberMechanism, ReportBatch, ShuffledResponse
from defenses.ldp.bit_vectors import LongitudinalUnaryEncoding
from metrics.columns import CategoricalDomain, Floats, Integers64, require
from scenarios.checks.audits.audit import Neighbours, Subject, claim_of
from scenarios.checks.audits.tables import of_defense, session_answers
from scenarios.running.methods.fingerprint import is_project_module

# Pairs of values of a domain on which local mechanisms are audited.

# Largest number of values that occur in a pair.
SHOWN = 8


def value_pairs(d: int) -> list[tuple[int, int]]:
    """Pairs in which every one of `d` values occurs, or those of an even spread over a large domain.

    These are neighbouring pairs of the chosen values, and the first with the last value. A mechanism that treats one
    value differently is run on that value if the domain has at most `SHOWN` values.

    Examples
    --------
    >>> value_pairs(5)
    [(0, 1), (2, 3), (0, 4)]
    >>> value_pairs(100)
    [(0, 1), (17, 34), (50, 66), (83, 99), (0, 99)]
    """
    chosen = np.arange(d) if d <= SHOWN else np.append(0, np.linspace(1, d - 1, SHOWN - 1).round().astype(int))
    paired = chosen[: chosen.size // 2 * 2].reshape(-1, 2).tolist()
    return list(dict.fromkeys([*map(tuple, paired), (0, d - 1)]))


# Audits of curators of graphs, on two neighbouring graphs.

PERSONS = 8
RUNS = 2000


def of_graph_curator(curator: GraphCurator) -> Subject:
    """Make the subject of a curator of a graph: complete graphs of 8 persons, one of them without a pair or a person.

    In the second graph all persons are joined. The first lacks the pair of the first two persons (edge privacy), all
    pairs of the first person (node privacy), or this person (person privacy). Edges, degrees and triangles change by
    most of their sensitivity. Each workload has sessions of its own.
    """
    graphs = complete(curator.level), complete(None)
    claim = claim_of(curator, curator.guarantee(graphs[0]))
    pairs = [
        Neighbours(title, *(partial(session_answers, curator, graphs, which, *asked) for which in (0, 1)))
        for title, asked in _workloads(curator.level == "person").items()
    ]
    return Subject(*claim, tuple(pairs), tight=False, runs=RUNS)


def complete(without: str | None) -> Microdata:
    """All pairs of persons joined, but for one pair ("edge"), all pairs of one person ("node"), or without a person."""
    names = tuple(f"p{number}" for number in range(PERSONS))
    pairs = np.array(list(combinations(names, 2)), dtype=object)
    apart = {
        "edge": np.arange(len(pairs)) == 0,
        "node": pairs[:, 0] == names[0],
        "person": pairs[:, 0] == names[0],
        None: np.zeros(len(pairs), dtype=bool),
    }
    frame = pd.DataFrame({"user": pairs[:, 0], "other": pairs[:, 1]})
    frame["friend"] = np.where(apart[without], "no", "yes").astype(object)
    if without == "person":
        frame = frame[~apart[without]].reset_index(drop=True)
    everybody = CategoricalDomain(names)
    return Microdata(
        frame,
        quasi_identifiers=("user", "other"),
        domains={"user": everybody, "other": everybody, "friend": CategoricalDomain(("no", "yes"))},
    )


def _workloads(present: bool) -> dict[str, tuple[tuple[Query, ...], int]]:
    """Queries of one session by title, and the number of parts into which they divide its budget."""
    edges, degrees, triangles = EdgeCount(), DegreeCounts(bound=PERSONS, present=present), TriangleCount()
    return {
        "edges": ((edges,), 1),
        "degrees": ((degrees,), 1),
        "triangles": ((triangles,), 1),
        "edges, degrees and triangles": ((edges, degrees, triangles), 3),
        "edges, for the whole budget four times": ((edges,) * 4, 1),
    }


# Numbers that are held in memory at a time.
BATCH = 1 << 22
# Largest domain of a protocol: the likelihoods of all its values are held in memory for each run.
LARGEST_DOMAIN = 1 << 16
# Number of seeds with which sampled noise is compared with `release`.
COMPARED_SEEDS = 20
# Rounds of a longitudinal protocol: with enough of them the memoized bits are known.
ROUNDS = 20
# Default number of runs of mechanisms that cannot draw many runs at once.
ONE_BY_ONE = 20_000


@singledispatch
def subject(mechanism: Any) -> Subject:
    """Make the subject of an audit: a mechanism's claim, and the worst known pairs of neighbours.

    A mechanism of an unknown class is assumed to release a number. It must have a method ``release(value, rng)``, and
    an attribute `epsilon` or a `guarantee` that states epsilon. It is run on 0 and on its `sensitivity` (default 1). A
    ValueError is raised if the object claims no epsilon, or has no method to run.

    Examples
    --------
    >>> from defenses.dp import RandomizedResponse
    >>> subject(RandomizedResponse(epsilon=2.0)).epsilon
    2.0
    """
    require(
        callable(getattr(mechanism, "release", None)),
        f"{type(mechanism).__name__} has neither privatize nor release: there is nothing to run",
    )
    return _numeric(mechanism)


@subject.register
def _of_selection(mechanism: Selection) -> Subject:
    """Scores of 2 and of 16 options; between neighbours one score rises and others fall by the sensitivity s."""
    s = float(mechanism.sensitivity)
    runs = 200_000 if draws_in_bulk(mechanism) else ONE_BY_ONE
    few = np.zeros(2), np.array([s, -s])
    many = np.eye(1, 16)[0] * s, (1 - np.eye(1, 16)[0]) * s
    return _subject(
        mechanism,
        [
            _pair("scores (0, 0) or (s, -s)", partial(_chosen, mechanism), few[0], few[1]),
            _pair("scores (s, 0, ... 0) or (0, s, ... s), 16 options", partial(_chosen, mechanism), many[0], many[1]),
        ],
        runs=runs,
    )


@subject.register
def _of_sparse_vector(mechanism: SparseVector) -> Subject:
    """Streams of values; between neighbours all values rise by the sensitivity s, or the last values fall instead.

    In the second pair the distinguishing event is that only the last `count` values are reported as above. The more
    values precede them, the closer its log-likelihood ratio comes to epsilon, but the rarer the event is. Eight
    preceding values are a compromise. With a count above 1 the event is too rare for the default number of runs.
    """
    s, length = float(mechanism.sensitivity), 8
    low = np.full(length + mechanism.count, float(mechanism.threshold) - s)
    high = low + s
    first, second = low.copy(), high.copy()
    first[length:] = high[length:]
    second[length:] = low[length:]
    run = partial(_stream, mechanism)
    return _subject(
        mechanism,
        [
            _pair("8 values s below the threshold, then at it; or the reverse", run, first, second),
            _pair("all values s below the threshold or at it", run, low, high),
        ],
        tight=mechanism.count == 1,
        runs=800_000 if draws_in_bulk(mechanism) else ONE_BY_ONE,
    )


@subject.register
def _of_binary_tree(mechanism: BinaryTree) -> Subject:
    """Streams of the whole horizon that differ in their first event, which lies in the most nodes.

    The running counts after 1, 2, 4, ... events are these nodes. Two more features are differences between the summed
    distances from the exact counts of either stream. The first sums over these times, on which the likelihood ratio
    depends. The second sums over all times, which reveals a mechanism that adds fresh noise to each count.
    """
    length, s = mechanism.horizon, int(mechanism.sensitivity)
    first = np.zeros(length, dtype=np.int64)
    second = first.copy()
    second[0] = s
    run = partial(_running_counts, mechanism, s)
    return _subject(
        mechanism,
        [_pair(f"first of {length} events 0 or {s}", run, first, second)],
        # The worst event happens once in 2^levels runs.
        tight=mechanism.levels <= 5,
        runs=200_000 if draws_in_bulk(mechanism) else ONE_BY_ONE,
    )


@subject.register
def _of_randomized_response(mechanism: RandomizedResponse) -> Subject:
    """One report of either value of each of `value_pairs`."""

    def sample(value: int, runs: int, rng: Generator) -> Floats:
        return np.asarray(mechanism.release(np.full(runs, value), rng), dtype=float)[:, None]

    pairs = [_pair(f"value {first} or {second}", sample, first, second) for first, second in value_pairs(mechanism.d)]
    return _subject(mechanism, pairs, tight=_treats_values_alike(mechanism))


@subject.register
def _of_protocol(protocol: FrequencyOracle) -> Subject:
    """One report of either value of each of `value_pairs`.

    The features are the log-likelihoods of the two values, as the protocol computes them, and parts of the raw report.
    The likelihoods reduce a long report to what matters. The raw parts do not rely on the protocol's computation.
    They are single numbers, or the two values' entries of rows of bits or numbers. Raises ValueError if the protocol
    has more than `LARGEST_DOMAIN` values.
    """
    _check_domain(protocol)
    return _subject(
        protocol,
        [
            _pair(f"value {first} or {second}", partial(_reports, protocol, (first, second)), first, second)
            for first, second in value_pairs(protocol.d)
        ],
        tight=_treats_values_alike(protocol),
    )


subject.register(Defense, of_defense)
subject.register(GraphCurator, of_graph_curator)


@subject.register
def _of_longitudinal(protocol: LongitudinalUnaryEncoding) -> Subject:
    """Reports of either value of each of `value_pairs` in 20 rounds: in how many rounds either bit is set.

    Raises ValueError if the protocol has more than `LARGEST_DOMAIN` values.
    """
    _check_domain(protocol)
    return _subject(
        protocol,
        [
            _pair(
                f"value {first} or {second}, {ROUNDS} rounds",
                partial(_rounds, protocol, [first, second]),
                first,
                second,
            )
            for first, second in value_pairs(protocol.d)
        ],
        tight=_treats_values_alike(protocol),
        runs=40_000,
    )


def _check_domain(protocol: FrequencyOracle) -> None:
    require(
        protocol.d <= LARGEST_DOMAIN,
        f"{type(protocol).__name__} has {protocol.d} values; audit it with at most {LARGEST_DOMAIN}",
    )


def _treats_values_alike(mechanism: Any) -> bool:
    """True of the project's classes, for which any two values are a worst pair; unknown of a user's."""
    return is_project_module(type(mechanism).__module__)


def _rounds(protocol: LongitudinalUnaryEncoding, pair: list[int], value: int, runs: int, rng: Generator) -> Floats:
    """Number of rounds in which either bit is set, and the log-likelihood ratio of both values; shape (runs, 3)."""

    def draw(count: int) -> Floats:
        rounds = protocol.privatize_rounds(np.full(count, value), ROUNDS, rng)
        times_set = np.sum([protocol.supports(reports)[:, pair] for reports in rounds], axis=0)
        logs = protocol.rounds_log_likelihood(rounds)
        return np.column_stack([times_set, logs[:, pair[0]] - logs[:, pair[1]]])

    return _in_batches(draw, protocol.d, runs)


@subject.register
def _of_shuffled(mechanism: ShuffledResponse) -> Subject:
    """Counts of reports where one person has the first or the second value, and all others the third."""
    first, second = (np.zeros(mechanism.d, dtype=np.int64) for _ in range(2))
    first[2] = second[2] = mechanism.n - 1
    first[0] = second[1] = 1

    def counts(table: Integers64, runs: int, rng: Generator) -> Floats:
        drawn = mechanism.repeated(table, runs, rng)
        return np.column_stack([mechanism.log_odds(drawn), drawn[:, :2].astype(float)])

    return _subject(mechanism, [_pair("one person with value 0 or 1, others with 2", counts, first, second)])


@subject.register
def _of_number_mechanism(mechanism: NumberMechanism) -> Subject:
    """One report of -1 or 1, and one of 0 or 1/2: the report itself, and the log-likelihood ratio of both numbers."""

    def sample(pair: tuple[float, float], value: float, runs: int, rng: Generator) -> Floats:
        reports = mechanism.randomize(np.full(runs, value), rng)
        logs = mechanism.log_likelihood(reports, np.array(pair))
        return np.column_stack([reports, logs[:, 0] - logs[:, 1]])

    pairs = ((-1.0, 1.0), (0.0, 0.5))
    return _subject(mechanism, [_pair(f"number {a:g} or {b:g}", partial(sample, (a, b)), a, b) for a, b in pairs])


@subject.register(NoiseMechanism)
def _numeric(mechanism: Any) -> Subject:
    """Values 0 and s, and both shifted by s/3, where s is the sensitivity."""
    s = float(getattr(mechanism, "sensitivity", 1.0))
    offset = s / 3
    if takes_integers_only(mechanism):
        s, offset = float(np.floor(s)), 0.0
        require(s >= 1, "sensitivity: integers that differ are 1 apart, and it is less")
    starts = dict.fromkeys([0.0, offset])
    return _subject(
        mechanism,
        [
            _pair(f"value {start:g} or {start + s:g}", partial(_numbers, mechanism), start, start + s)
            for start in starts
        ],
        runs=ONE_BY_ONE if _base(mechanism, int(offset)) is None else 400_000,
    )


def takes_integers_only(mechanism: Any) -> bool:
    """Probe whether `release` refuses fractions."""
    try:
        mechanism.release(0.5, np.random.default_rng(0))
    except ValueError:
        return True
    return False


def _numbers(mechanism: Any, value: float, runs: int, rng: Generator) -> Floats:
    """Releases of one value, shape (runs, 1). If `release` adds what `sample` draws, all noise is sampled at once."""
    number = int(value) if takes_integers_only(mechanism) else value
    base = _base(mechanism, number)
    if base is not None:
        return base + np.asarray(mechanism.sample(runs, rng), dtype=float)[:, None]
    return _released(mechanism, number, runs, rng)


def _base(mechanism: Any, value: float) -> float | None:
    """The number to which `release` adds the noise of `sample`; None if it does not do so with every compared seed."""
    if not draws_in_bulk(mechanism) or not callable(getattr(mechanism, "sample", None)):
        return None
    differences = {
        mechanism.release(value, np.random.default_rng(seed)) - mechanism.sample(1, np.random.default_rng(seed))[0]
        for seed in range(COMPARED_SEEDS)
    }
    return float(differences.pop()) if len(differences) == 1 else None


def _released(mechanism: Any, value: Any, runs: int, rng: Generator) -> Floats:
    """Outputs of `release`, run by run, shape (runs, numbers of an output)."""
    answers = [np.ravel(mechanism.release(value, rng)) for _ in range(runs)]
    try:
        return np.array(answers, dtype=float)
    except (TypeError, ValueError):
        name = type(mechanism).__name__
        raise ValueError(f"{name}.release must return numbers, always as many, to be audited") from None


def _chosen(mechanism: Selection, scores: Floats, runs: int, rng: Generator) -> Floats:
    """Positions of the chosen options, shape (runs, 1)."""
    if not draws_in_bulk(mechanism):
        return _released(mechanism, scores, runs, rng)
    return mechanism.repeated(scores, runs, rng).astype(float)[:, None]


def _stream(mechanism: SparseVector, values: Floats, runs: int, rng: Generator) -> Floats:
    """Number of answers, number of answers "above" and position of the first of them, shape (runs, 3)."""
    draw = mechanism.repeated if draws_in_bulk(mechanism) else partial(_repeated_streams, mechanism)

    def features(count: int) -> Floats:
        answers = draw(values, count, rng)
        above = answers == 1
        first = np.where(above.any(axis=1), above.argmax(axis=1), values.size)
        return np.stack([(answers >= 0).sum(axis=1), above.sum(axis=1), first], axis=1)

    return _in_batches(features, values.size, runs)


def _running_counts(mechanism: BinaryTree, change: int, events: Integers64, runs: int, rng: Generator) -> Floats:
    """Running counts after 1, 2, 4, ... events, and two sums of distances; see `_of_binary_tree`."""
    times = 2 ** np.arange(mechanism.levels) - 1
    draw = mechanism.repeated if draws_in_bulk(mechanism) else partial(_released, mechanism)

    def features(count: int) -> Floats:
        answers = draw(events, count, rng).astype(float)
        distances = np.abs(answers - change) - np.abs(answers)
        return np.column_stack([answers[:, times], distances[:, times].sum(axis=1), distances.sum(axis=1)])

    return _in_batches(features, events.size, runs)


def _repeated_streams(mechanism: SparseVector, values: Floats, runs: int, rng: Generator) -> NDArray[np.int8]:
    """Answers of `release`, run by run, padded with -1 after it stopped, like `SparseVector.repeated`."""
    answers = np.full((runs, values.size), -1, dtype=np.int8)
    for row in answers:
        released = np.ravel(mechanism.release(values, rng))
        row[: released.size] = released
    return answers


def _reports(protocol: FrequencyOracle, pair: tuple[int, int], value: int, runs: int, rng: Generator) -> Floats:
    """Features of reports of one value, shape (runs, features)."""

    def draw(count: int) -> Floats:
        return _report_features(protocol, protocol.privatize(np.full(count, value), rng), pair)

    return _in_batches(draw, protocol.d, runs)


def _in_batches(draw: Callable[[int], Any], size: int, runs: int) -> Floats:
    """Features of so many runs, drawn in batches of which each holds at most `BATCH` numbers if a run holds `size`."""
    step = max(1, BATCH // size)
    return np.concatenate([draw(min(step, runs - start)) for start in range(0, runs, step)]).astype(float)


def _report_features(protocol: FrequencyOracle, reports: ReportBatch, pair: tuple[int, int]) -> Floats:
    """Log-likelihoods of the two values, and the parts of each report that concern them; see `_of_protocol`."""
    likelihood = protocol.log_likelihood(reports)[:, list(pair)]
    columns: list[Any] = [likelihood[:, 0] - likelihood[:, 1], *likelihood.T]
    for part in reports.parts.values():
        if part.ndim == 1:
            columns.append(part)
            continue
        row = np.unpackbits(part, axis=1) if part.dtype == np.uint8 else part
        columns += [row[:, value] for value in pair if value < row.shape[1]]
    return np.stack(columns, axis=1).astype(float)


def _pair(title: str, run: Callable[[Any, int, Generator], Floats], first: Any, second: Any) -> Neighbours:
    return Neighbours(title, partial(run, first), partial(run, second))


def _subject(mechanism: Any, neighbours: Sequence[Neighbours], *, tight: bool = True, runs: int = 200_000) -> Subject:
    """A subject with the claim of the mechanism's `guarantee`, or of its attribute `epsilon`."""
    guarantee = getattr(mechanism, "guarantee", None)
    stated = guarantee if isinstance(guarantee, Guarantee) else Guarantee(epsilon=getattr(mechanism, "epsilon", None))
    return Subject(*claim_of(mechanism, stated), tuple(neighbours), tight, runs)
