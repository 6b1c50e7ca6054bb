"""Sections of the report on loss gaps of private federated learning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.number_text import counted, number
from leaderboard.pages.report import Section, Table
from scenarios.studies.federated_gaps import BestRounds, Gap, LossGaps, TrainingSetting, best_rounds

_AXES = {"clients": "clients N", "epsilon": "epsilon", "rounds": "rounds T"}
_SHAPE_NOTE = (
    "P^T Theta + (k1 T / (m sqrt(N) epsilon) + k0 T^2 / (m^2 N epsilon^2)) (1 - P^T) (Wei et al. 2020, Theorem 2, at "
    "fixed C): P on a grid, Theta, k1 and k0 at least 0 by least squares on the gap divided by what was measured."
)


def epsilon_section(results: LossGaps) -> Section:
    """Loss gap against epsilon and the number of clients, at one number of rounds."""
    turns, gaps, shape = results.middle, results.gaps, results.shape
    budgets = [*results.epsilon, np.inf]
    grid = {f"N = {count}": [TrainingSetting(count, turns, budget) for budget in budgets] for count in results.clients}
    rows: list[tuple[str, ...]] = [(name, *(gap_text(gaps[one]) for one in row)) for name, row in grid.items()]
    theory: list[tuple[str | float, ...]] = [(name, *(shape[one] for one in row)) for name, row in grid.items()]
    columns = ("", *(f"epsilon = {budget:g}" for budget in results.epsilon), "no noise")
    ascending = sorted(results.clients)
    over_clients = tuple(
        _curve(
            f"epsilon = {budget:g}, T = {turns}",
            "clients",
            [TrainingSetting(count, turns, budget) for count in ascending],
            results,
        )
        for budget in results.epsilon
    )
    over_epsilon = tuple(
        _curve(
            f"N = {count}, T = {turns}",
            "epsilon",
            [TrainingSetting(count, turns, budget) for budget in sorted(results.epsilon)],
            results,
        )
        for count in results.clients
    )
    by_budget = [[gaps[TrainingSetting(count, turns, budget)] for count in ascending] for budget in results.epsilon]
    falls = sum(all(more.mean < fewer.mean for fewer, more in pairwise(row)) for row in by_budget)
    clearly = sum(all(more.high < fewer.low for fewer, more in pairwise(row)) for row in by_budget)
    return Section(
        "Loss gap against epsilon and the number of clients",
        (
            f"{results.dataset}: {results.records} records a client, T = {turns}, "
            f"{counted(results.plays, 'repetition')}; the best loss is {number(results.best_loss, 4)}. The gap falls "
            f"with N at {falls} of {len(results.epsilon)} epsilons, at {clearly} by more than the intervals. The "
            "theory's constants are fitted to all settings at "
            "once.",
        ),
        (
            Table("Measured gap, 95 % interval", columns, rows, digits=3),
            Table("The theory's shape", columns, theory, digits=3, note=_SHAPE_NOTE),
        ),
        lines=(*over_clients, *over_epsilon),
    )


def rounds_section(results: LossGaps) -> Section:
    """Loss gap against the number of rounds, at every epsilon and number of clients."""
    tables, charts, best_of_noised = [], [], []
    for budget in [*results.epsilon, np.inf]:
        name = "no noise" if np.isinf(budget) else f"epsilon = {budget:g}"
        rows: list[tuple[str, ...]] = []
        for count in results.clients:
            settings = [TrainingSetting(count, turns, budget) for turns in results.rounds]
            best = best_rounds(settings, results.gaps)
            rows.append((f"N = {count}", *(gap_text(results.gaps[one]) for one in settings), rounds_text(best)))
            if not np.isinf(budget):
                best_of_noised.append(best)
                charts.append(_curve(f"N = {count}, {name}", "rounds", settings, results))
        columns = ("", *(f"T = {turns}" for turns in results.rounds), "best T")
        tables.append(Table(f"Measured gap, {name}", columns, rows, digits=3))
    inside = sum(best.inside for best in best_of_noised)
    return Section(
        "Loss gap against the number of rounds",
        (
            f"At {inside} of {len(best_of_noised)} settings of N and epsilon, one T is better than fewer and than more "
            "rounds, by more than the intervals. Elsewhere the best T is the smallest or largest tried, or does not "
            "differ significantly from another. The theory's constant is disputed, so a best T is not assumed.",
        ),
        tuple(tables),
        lines=tuple(charts),
    )


def gap_text(gap: Gap) -> str:
    """A gap with its interval."""
    mean = number(gap.mean, 3)
    return mean if np.isinf(gap.half) else f"{mean} ± {number(gap.half, 3)}"


def rounds_text(best: BestRounds) -> str:
    """The best number of rounds, marked where fewer and more are worse."""
    return f"{best.rounds}, inside" if best.inside else str(best.rounds)


def _curve(title: str, along: str, settings: Sequence[TrainingSetting], results: LossGaps) -> Lines:
    """Measured gaps with intervals, and the theory's shape, along one attribute of the settings."""
    positions = [float(getattr(setting, along)) for setting in settings]
    gaps = [results.gaps[setting] for setting in settings]
    with_interval = [gap for gap in gaps if np.isfinite(gap.half)]
    lows, highs = [gap.low for gap in with_interval], [gap.high for gap in with_interval]
    return Lines(
        title,
        _AXES[along],
        "loss gap",
        (
            Series("measured", positions, [gap.mean for gap in gaps], lows, highs),
            Series("the theory's shape", positions, [results.shape[setting] for setting in settings]),
        ),
        better="lower",
        scale="logarithmic",
    )
