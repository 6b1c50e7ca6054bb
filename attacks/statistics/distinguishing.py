"""Distinguishing two neighbouring tables by a learned event of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, NotApplicable, given
from attacks.statistics.disclosure_by_queries import ask, even_share
from defenses.base.queries import Query, QuerySession
from metrics.columns import Booleans, Floats, Integers64, NumericDomain, check_integer, require
from metrics.empirical_epsilon import epsilon_lower_bound

# Features with more distinct values are binned.
DISTINCT = 1024
# Number of thresholds tried on a score.
THRESHOLDS = 1000
# Number of outputs on each input to which the regression is fitted.
FITTED = 20_000
# Up to this many features are tabulated jointly; more are combined by regression only.
MAX_TABULATED = 24

OutputScore = Callable[[Floats], Floats]


@dataclass(frozen=True)
class LearnedEvent:
    """Event of outputs that is more likely on one input than on the other.

    - score: Maps outputs, shape (n, features), to numbers, shape (n,); higher means more likely on the favoured input.
    - threshold: The event occurs if the score is at least this.
    - first: Whether the first input is the favoured one.
    """

    score: OutputScore
    threshold: float
    first: bool

    def happens(self, outputs: Floats) -> Booleans:
        """Evaluate the event on outputs of shape (n, features); booleans of shape (n,)."""
        return np.asarray(self.score(outputs) >= self.threshold)

    def bound(self, first: Floats, second: Floats, *, delta: float = 0.0, confidence: float) -> float:
        """Lower bound on epsilon from fresh outputs on the first and the second input, shape (n, features) each.

        The bound holds with probability `confidence` if the event was learned on other outputs.
        """
        favoured, other = (first, second) if self.first else (second, first)
        hits, misses = int(self.happens(favoured).sum()), int(self.happens(other).sum())
        return float(epsilon_lower_bound(hits, len(favoured), misses, len(other), delta=delta, confidence=confidence))


def learn_event(first: Floats, second: Floats, *, delta: float = 0.0, confidence: float) -> LearnedEvent:
    """Learn the event that proves the largest epsilon.

    Half of the outputs serve to learn scores, which order outputs by their likelihood ratio. On the other half, the
    score, side and threshold are chosen that prove the largest bound there. The scores are:

    - each feature as it is;
    - the likelihood ratio of each feature's values or quantile bins;
    - for small numbers of features, the likelihood ratio of their combinations;
    - the lowest set bit of each feature's floating-point number, since noise added in floating point leaves different
      bits on different inputs;
    - a logistic regression over all of these.

    Outputs have shapes (n, features) and (m, features); NaN stands for no answer. Different features, or fewer than 4
    outputs on an input, raise a ValueError.

    Source: Mironov (2012), On significance of the least significant bits for differential privacy. Neyman and Pearson
    (1933), for the optimality of the likelihood ratio.
    """
    require(
        first.ndim == 2 and first.shape[1:] == second.shape[1:] and first.shape[1],
        "outputs must be tables of the same features, one row a run",
    )
    require(min(len(first), len(second)) >= 4, "an event needs at least 4 outputs on each input to be learned from")
    half_first, half_second = len(first) // 2, len(second) // 2
    choosing = first[half_first:], second[half_second:]
    scores = _scores(first[:half_first], second[:half_second])
    events = (_best_event(score, *choosing, delta, confidence) for score in scores)
    return max(events, key=lambda event: event[0])[1]


def _best_event(
    score: OutputScore, first: Floats, second: Floats, delta: float, confidence: float
) -> tuple[float, LearnedEvent]:
    """The best threshold of a score over both sides, and the bound that it proves."""
    events = []
    for sign, favoured_first in ((1.0, True), (-1.0, False)):
        signed = partial(signed_score, score, sign)
        favoured, other = (first, second) if favoured_first else (second, first)
        favoured_scores, other_scores = np.sort(signed(favoured)), np.sort(signed(other))
        candidates = _thresholds(np.concatenate([favoured_scores, other_scores]))
        hits = favoured_scores.size - np.searchsorted(favoured_scores, candidates, side="left")
        misses = other_scores.size - np.searchsorted(other_scores, candidates, side="left")
        bounds = epsilon_lower_bound(
            hits, favoured_scores.size, misses, other_scores.size, delta=delta, confidence=confidence
        )
        # Ties at a bound of 0 go to the best-separating event, which may prove something on more runs.
        objective = bounds + 1e-9 * (hits / favoured_scores.size - misses / other_scores.size)
        best = int(np.argmax(objective))
        events.append((float(objective[best]), LearnedEvent(signed, float(candidates[best]), favoured_first)))
    return max(events, key=lambda event: event[0])


def signed_score(score: OutputScore, sign: float, outputs: Floats) -> Floats:
    """Score of each output times 1 or -1, shape (n,)."""
    return sign * score(outputs)


def _thresholds(values: Floats) -> Floats:
    distinct = np.unique(values)
    if distinct.size <= THRESHOLDS:
        return distinct
    # Fine steps in both tails: with a delta above 0 the best event may be rare.
    steps = np.geomspace(1, distinct.size, THRESHOLDS // 2).astype(int)
    return np.asarray(distinct[np.unique(np.concatenate([steps - 1, distinct.size - steps]))])


def _scores(first: Floats, second: Floats) -> Iterator[OutputScore]:
    features = first.shape[1]
    parts: list[OutputScore] = [partial(feature, column) for column in range(features)]
    tables: list[OutputScore] = []
    for column in range(features):
        tables.append(_table([parts[column]], first, second))
        values = np.concatenate([first[:, column], second[:, column]])
        values = values[np.isfinite(values)]
        if (values != np.floor(values)).any():
            tables.append(_table([partial(lowest_bit, column)], first, second))
    yield from parts
    yield from tables
    if 1 < features <= MAX_TABULATED:
        yield _table(list(parts), first, second)
    if features > 1:
        yield _combined([*parts, *tables], first, second)


def feature(column: int, outputs: Floats) -> Floats:
    """A feature as it is, shape (n,); a missing answer is lower than any number."""
    values = outputs[:, column]
    return np.where(np.isnan(values), -np.inf, values)


def lowest_bit(column: int, outputs: Floats) -> Floats:
    """Exponent of the lowest set bit in a feature's floating-point number, shape (n,); 0 gets the highest."""
    values = outputs[:, column]
    nonzero = np.isfinite(values) & (values != 0)
    fraction, exponent = np.frexp(np.where(nonzero, values, 1.0))
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    _, lowest = np.frexp((mantissa & -mantissa).astype(float))
    return np.where(nonzero, exponent + lowest - 54.0, 2000.0)


def likelihood_ratio(
    parts: list[OutputScore], edges: list[Floats], cells: Integers64, ratios: Floats, outputs: Floats
) -> Floats:
    """Log-likelihood ratio of each output's cell on the first and the second input, shape (n,).

    Parts span the dimensions of a table, with ascending interior cut points (edges). `cells` are the observed cells,
    ascending. `ratios` has one entry for each, and a last one for unobserved cells.
    """
    codes = _codes(parts, edges, outputs)
    position = np.minimum(np.searchsorted(cells, codes), cells.size - 1)
    return np.asarray(np.where(cells[position] == codes, ratios[position], ratios[-1]))


def _codes(parts: list[OutputScore], edges: list[Floats], outputs: Floats) -> Integers64:
    codes = np.zeros(len(outputs), dtype=np.int64)
    for part, cuts in zip(parts, edges, strict=True):
        codes = codes * (cuts.size + 1) + np.searchsorted(cuts, part(outputs), side="right")
    return codes


def _table(parts: list[OutputScore], first: Floats, second: Floats) -> OutputScore:
    """Log-likelihood ratio of a table's cells, with half a count added to each."""
    # The dimensions together make about DISTINCT cells.
    allowed = max(2, int(DISTINCT ** (1 / len(parts))))
    edges = [_cuts(np.concatenate([part(first), part(second)]), allowed) for part in parts]
    codes = _codes(parts, edges, first), _codes(parts, edges, second)
    cells, cell = np.unique(np.concatenate(codes), return_inverse=True)
    counts = [np.bincount(side, minlength=cells.size) for side in (cell[: codes[0].size], cell[codes[0].size :])]
    ratios = [np.log((count + 0.5) / (len(side) + 1.0)) for count, side in zip(counts, (first, second), strict=True)]
    return partial(likelihood_ratio, parts, edges, cells, np.append(ratios[0] - ratios[1], 0.0))


def _cuts(values: Floats, allowed: int) -> Floats:
    """Cut points of about `allowed` bins at most: between all distinct values, or at quantiles with fine tails."""
    distinct = np.unique(values)
    if distinct.size <= allowed:
        return distinct[1:]
    middle = np.linspace(0, 1, max(3, allowed // 4) + 1)[1:-1]
    tails = np.geomspace(1e-4, middle[0], 16) if allowed >= 64 else np.array([])
    levels = np.unique(np.concatenate([tails, middle, 1 - tails]))
    return np.unique(np.quantile(distinct if values.size < 64 else values, levels, method="lower"))


def _combined(parts: list[OutputScore], first: Floats, second: Floats) -> OutputScore:
    """Logistic regression over several scores, fitted to the first `FITTED` outputs on each input."""
    from sklearn.linear_model import LogisticRegression

    first, second = first[:FITTED], second[:FITTED]
    rows = np.concatenate([_columns(parts, first), _columns(parts, second)])
    shift, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale == 0] = 1.0
    labels = np.repeat([1, 0], [len(first), len(second)])
    weights = LogisticRegression(max_iter=200).fit((rows - shift) / scale, labels).coef_[0]
    return partial(combined_score, parts, shift, scale, weights)


def combined_score(parts: list[OutputScore], shift: Floats, scale: Floats, weights: Floats, outputs: Floats) -> Floats:
    """Log-odds of the first input up to a constant, shape (n,), from standardized scores."""
    return np.asarray(((_columns(parts, outputs) - shift) / scale) @ weights)


def _columns(parts: list[OutputScore], outputs: Floats) -> Floats:
    return np.stack([np.nan_to_num(part(outputs), posinf=1e12, neginf=-1e12) for part in parts], axis=1)


CONFIDENCE = 0.999


@dataclass(frozen=True, kw_only=True)
class DistinguishingKnowledge(Knowledge):
    """Knowledge of an attacker who is to distinguish two neighbouring tables.

    - queries: Queries asked in each challenge.
    - challenges: Fresh sessions on the two tables, equally many on each, in secret order.
    - practise: ``practise(which, rng)`` opens a session of the attacker on the first (0) or the second (1) table.
    - delta: The delta of the targeted (epsilon, delta).
    """

    queries: tuple[Query, ...] = ()
    challenges: Sequence[QuerySession] = field(default=(), repr=False)
    practise: Callable[[int, Generator], QuerySession] | None = field(default=None, repr=False)
    delta: float = 0.0


class Distinguishing(Attack):
    """Chooses two neighbouring tables and learns an event that separates them.

    The tables differ in one record. In one table it is lowest in every column (first category), in the other highest.
    This is the worst case for sums, means, extremes and counts. The attacker runs the curator on both tables and learns
    from the answers the event that proves the largest epsilon (`attacks.statistics.distinguishing`). It then decides
    each challenge by this event.

    The attack assumes that the attacker can run the mechanism. Its baseline is a random guess between the two tables.

    Parameters
    ----------
    runs : int
        Number of runs of the curator on each table, at least 4.

    Raises
    ------
    ValueError
        If `runs` is not an integer of at least 4.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning.
    """

    kind = "statistics"
    goal = "distinguishing"

    def __init__(self, *, runs: int = 500) -> None:
        self.runs = check_integer("runs", runs, low=4)

    def choose(self, knowledge: Knowledge, rng: Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Choose two tables that differ in their first record."""
        table = knowledge.candidates
        ends = {
            name: (domain.low, domain.high) if isinstance(domain, NumericDomain) else domain.categories
            for name, domain in knowledge.domains([str(name) for name in table.columns]).items()
        }
        first, second = (
            pd.concat(
                [pd.DataFrame([{name: end[side] for name, end in ends.items()}]), table.iloc[1:]], ignore_index=True
            )
            for side in (0, -1)
        )
        return first, second

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score each challenge; higher means that the second table is more likely.

        Raises
        ------
        NotApplicable
            If there are no challenges, or the attacker cannot run the mechanism itself.
        """
        if not isinstance(knowledge, DistinguishingKnowledge) or not knowledge.queries:
            raise NotApplicable("the game poses no challenges")
        practise = given(
            knowledge.practise, "the event is learned on the attacker's own runs, and the mechanism is not known"
        )
        first, second = (
            _answers([practise(which, rng) for _ in range(self.runs)], knowledge.queries) for which in (0, 1)
        )
        event = learn_event(first, second, delta=knowledge.delta, confidence=CONFIDENCE)
        outputs = _answers(knowledge.challenges, knowledge.queries)
        margin = np.clip(event.score(outputs) - event.threshold, -1e12, 1e12)
        # The event includes its threshold, so a tie must fall on the event's side.
        scores = np.where(event.happens(outputs), margin + 1e-12, margin)
        return Decisions(-scores if event.first else scores)


def _answers(sessions: Sequence[QuerySession], queries: tuple[Query, ...]) -> Floats:
    """Answers of each session, shape (sessions, numbers); NaN where it refuses."""
    rows = []
    for session in sessions:
        epsilon = even_share(session, len(queries))
        answers = [ask(session, query, epsilon) for query in queries]
        rows.append([np.array([np.nan]) if answer is None else answer.ravel() for answer in answers])
    sizes = [max((part.size for part in column), default=1) for column in zip(*rows, strict=True)]
    return np.array(
        [np.concatenate([np.resize(part, size) for part, size in zip(row, sizes, strict=True)]) for row in rows]
    )
