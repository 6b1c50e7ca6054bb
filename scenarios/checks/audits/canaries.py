"""Canaries for audits in one run, for each kind of mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.membership.model_confidence import classifier
from attacks.statistics.disclosure_by_queries import ask, even_share
from attacks.statistics.distinguishing import OutputScore, learn_event
from defenses import (
    Defense,
    GraphCurator,
    Microdata,
    ModelRelease,
    PrivateGradientDescent,
    RefinedBins,
    StatisticsRelease,
)
from defenses.base.queries import Histogram
from defenses.dp.gaussian import DiscreteGaussian, Gaussian
from defenses.dp.mechanism import NoiseMechanism
from defenses.synthetic.graphical.graphical_synthesis import GraphicalSynthesis
from metrics.columns import Booleans, CategoricalDomain, Floats, require
from scenarios.checks.audits.audit import Canaries, Neighbours, claim_of
from scenarios.checks.audits.subjects import subject, takes_integers_only
from scenarios.checks.audits.tables import check_declaration, released, table

GAUSSIAN = (Gaussian, DiscreteGaussian, GraphicalSynthesis, RefinedBins)
"""Mechanisms that protect canaries by Gaussian noise."""
NUMBERS, ROWS, CELLS = 2_000, 2_000, 1_000
"""Default numbers of canaries in a run: numbers or groups, rows that are randomized on their own, and other rows."""
COMPARED, LEARNED = 1_000, 20_000
"""Numbers of groups with each input from which the sign of a single output, or the score of several, is learned."""
RECORDS, MODEL_COLUMNS = 500, 8
"""Default number of canaries in the training set of a model, and number of input columns, which all hold the same."""
TINY = 1e-300
"""Smallest probability of a class whose logarithm is taken."""
OTHERS = 10
"""Number of other records in each category of a released table: negative noisy counts are not released."""

TableScore = Callable[[Defense, bool, Booleans, Generator], Floats]


@singledispatch
def canaries(mechanism: Any) -> Canaries:
    """Make the canaries of a one-run audit.

    A mechanism without a way to hold many canaries runs on disjoint groups of persons. Each group has one of the two
    inputs of `scenarios.checks.audits.subjects`, and counts as a canary. The score is learned from other groups. Raises
    ValueError if the object claims no epsilon, or has no method to run.
    """
    examined = subject(mechanism)
    pair = examined.neighbours[0]
    return Canaries(
        examined.name,
        examined.epsilon,
        examined.delta,
        f"disjoint groups: {pair.title}",
        partial(_of_groups, pair),
        count=max(100, min(NUMBERS, examined.runs // 40)),
        gaussian=isinstance(mechanism, GAUSSIAN),
    )


@canaries.register
def _of_noise(mechanism: NoiseMechanism) -> Canaries:
    """An array of numbers, each 0 or the sensitivity; mechanisms of a single number run on groups."""
    if mechanism.norm is None:
        return canaries.dispatch(object)(mechanism)
    step = float(mechanism.sensitivity)
    if takes_integers_only(mechanism):
        step = float(np.floor(step))
        require(step >= 1, "sensitivity: integers that differ are 1 apart, and it is less")
    return Canaries(
        *claim_of(mechanism, mechanism.guarantee),
        f"numbers of one array, each 0 or {step:g}",
        partial(_of_numbers, mechanism, step),
        count=NUMBERS,
        gaussian=isinstance(mechanism, GAUSSIAN),
    )


@canaries.register
def _of_defense(defense: Defense) -> Canaries:
    """Records of one table; graphs run on groups.

    A record holds a category of its own if it is included, and another of its own if not. If neighbouring tables differ
    by a record added or removed, an excluded record is absent. The score of a canary is the released number of records
    in its first category less that in its second. Curators answer one histogram for the whole budget. Where a defense
    randomizes records independently, there are two categories, and the score is whether the record's row holds
    the first. In the training set of a model, a canary has a category of its own and one of two classes. Its score is
    the published model's log odds of the first class.
    """
    if isinstance(defense, GraphCurator):
        return canaries.dispatch(object)(defense)
    require(
        defense.kind in ("statistics", "model", "microdata"),
        f"{type(defense).__name__} releases {defense.kind}; audit the mechanism behind it",
    )
    guaranteed = defense.guarantee(_training_table(np.ones(1, dtype=bool)) if defense.kind == "model" else table(0))
    claim, removable = claim_of(defense, guaranteed), "added or removed" in guaranteed.statement
    if defense.kind == "statistics":
        title, score, count = "cells of one histogram", _histogram, CELLS
    elif defense.kind == "model":
        title, score, count = "records of a model, each with one of two classes", _model, RECORDS
    elif defense.randomizes_records_independently:
        check_declaration(defense)
        title, score, count = "rows, each with one of two categories", _rows, ROWS
    else:
        title, score, count = "rows, each with a category of its own", _cells, CELLS
    return Canaries(
        *claim,
        title,
        partial(_of_tables, score, defense, removable),
        count=count,
        gaussian=_has_gaussian_noise(defense),
    )


def _has_gaussian_noise(defense: Defense) -> bool:
    """True if the trade-off function about one canary is Gaussian; sampling of the records makes it another."""
    if isinstance(defense, PrivateGradientDescent):
        return defense.sampling_rate == 1
    return isinstance(defense, GAUSSIAN) or getattr(defense, "mechanism", None) == "gaussian"


def _of_groups(pair: Neighbours, included: Booleans, rng: Generator) -> Floats:
    """Scores of groups with the second input (included) or the first."""
    learn_first, learn_second, first_rng, second_rng = rng.spawn(4)
    first, second = pair.first(COMPARED, learn_first), pair.second(COMPARED, learn_second)
    score: OutputScore
    if first.shape[1] == 1:
        score, favours_first = itemgetter((slice(None), 0)), bool(first.mean() > second.mean())
    else:
        learned = min(LEARNED, included.size)
        first, second = pair.first(learned, learn_first), pair.second(learned, learn_second)
        event = learn_event(first, second, confidence=0.999)
        score, favours_first = event.score, event.first
    scores = np.empty(included.shape)
    for chosen, run, run_rng in ((~included, pair.first, first_rng), (included, pair.second, second_rng)):
        # A side without canaries is run all the same: some mechanisms refuse an input of no runs.
        count = int(chosen.sum())
        scores[chosen] = score(run(max(1, count), run_rng))[:count]
    return -scores if favours_first else scores


def _of_numbers(mechanism: NoiseMechanism, step: float, included: Booleans, rng: Generator) -> Floats:
    values = np.where(included, step, 0.0)
    numbers = values.astype(np.int64) if step.is_integer() else values
    return np.array([mechanism.release(row, rng) for row in numbers], dtype=float)


def _of_tables(score: TableScore, defense: Defense, removable: bool, included: Booleans, rng: Generator) -> Floats:
    return np.array([score(defense, removable, row, rng) for row in included])


def _histogram(defense: Defense, removable: bool, included: Booleans, rng: Generator) -> Floats:
    release = defense.apply(_table(included, removable), rng)
    assert isinstance(release, StatisticsRelease)  # noqa: S101 (of a defense of this kind)
    session: Any = release.open(rng)
    answer = ask(session, Histogram("name"), even_share(session, 1))
    if answer is None:
        raise ValueError(f"{type(defense).__name__} refuses a histogram within its budget")
    # Beyond 0 and 1, the likelihood ratio of Laplace noise is constant.
    counts = np.ravel(answer) if getattr(defense, "mechanism", None) == "gaussian" else np.clip(np.ravel(answer), 0, 1)
    return _differences(counts, removable)


def _cells(defense: Defense, removable: bool, included: Booleans, rng: Generator) -> Floats:
    frame = released(defense, _table(included, removable, OTHERS), rng).frame
    names = _names(included.size, removable)
    return _differences(frame["name"].astype(str).value_counts().reindex(names, fill_value=0).to_numpy(), removable)


def _rows(defense: Defense, removable: bool, included: Booleans, rng: Generator) -> Floats:
    """The records' rows; they are never removed, as their number is public."""
    records = Microdata(
        pd.DataFrame({"name": np.where(included, "yes", "no").astype(object)}),
        quasi_identifiers=("name",),
        domains={"name": CategoricalDomain(("no", "yes"))},
    )
    release = released(defense, records, rng)
    cells = release.frame["name"].astype(str).to_numpy()
    scores = np.zeros(included.size)
    scores[release.origin] = (cells == "yes") - 1.0 * (cells == "no")
    return scores


def _model(defense: Defense, removable: bool, included: Booleans, rng: Generator) -> Floats:
    """Log odds of the first class for each canary's category."""
    records = _training_table(included)
    release = defense.apply(records, rng)
    assert isinstance(release, ModelRelease)  # noqa: S101 (of a defense of this kind)
    model = classifier(release.model)
    probability = np.clip(np.asarray(model.predict_proba(records.frame), dtype=float), TINY, 1.0)
    yes = list(model.classes).index("yes")
    return np.asarray(np.log(probability[:, yes]) - np.log(probability[:, 1 - yes]))


def _training_table(included: Booleans) -> Microdata:
    """One record for each canary; many columns hold its category, so that they outweigh the bias of a model."""
    names = np.array([f"c{number}" for number in range(included.size)], dtype=object)
    inputs = {f"name{number}": names for number in range(MODEL_COLUMNS)}
    domains = dict.fromkeys(inputs, CategoricalDomain(tuple(names)))
    return Microdata(
        pd.DataFrame({**inputs, "answer": np.where(included, "yes", "no").astype(object)}),
        quasi_identifiers=tuple(inputs),
        sensitive=("answer",),
        domains={**domains, "answer": CategoricalDomain(("no", "yes"))},
    )


def _table(included: Booleans, removable: bool, others: int = 0) -> Microdata:
    """One record for each canary, without the excluded ones if they are removable; and other records a category."""
    names = _names(included.size, removable)
    held = names[included] if removable else names.reshape(-1, 2)[np.arange(included.size), (~included).astype(int)]
    return Microdata(
        pd.DataFrame({"name": np.concatenate([held, np.repeat(names, others)])}),
        quasi_identifiers=("name",),
        domains={"name": CategoricalDomain(tuple(names))},
    )


def _names(count: int, removable: bool) -> Any:
    """Categories: one for each canary if they are removable, otherwise two."""
    return np.array([f"c{number}" for number in range(count if removable else 2 * count)], dtype=object)


def _differences(counts: Any, removable: bool) -> Floats:
    """Count of each canary's category, less that of its other one."""
    numbers = np.asarray(counts, dtype=float)
    return numbers if removable else numbers[::2] - numbers[1::2]
