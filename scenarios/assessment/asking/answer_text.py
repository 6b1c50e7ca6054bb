"""Private answers as text and as JSON values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from defenses.base.queries import labels
from defenses.curators.answer_plan import Measurement, PartBound
from defenses.dp.concentrated_accountant import ConcentratedAccountant
from scenarios.assessment.asking.paid_query import PaidQuery, Quote


def answer_lines(asked: PaidQuery, measured: Measurement, confidence: float) -> str:
    """The answer with its interval, as text of one or more lines; tables have one line for each cell."""
    level = f"{100 * confidence:g} %"
    bound = measured.bounds[0].bound
    if not np.ndim(measured.answer):
        if measured.interval is None:
            answer, step = measured.answer, measured.bounds[0].step
            shown = answer if isinstance(answer, str) else on_grid(float(answer), step or 0.0)
            records = f"{bound:,.0f}"
            if asked.account.about["neighbours"] == "replace":
                # The number of records is public, and no rank or count is off by more.
                records = f"{min(bound, len(asked.records)):,.0f} of {len(asked.records):,}"
            error = f"{measured.bounds[0].title}: off by at most {records} records, with {level}"
            return f"{shown}\n{error}{rounded_first(step)}"
        low, high = map(float, measured.interval)
        answer, *ends = (number(float(value), high - low) for value in (measured.answer, low, high))
        return f"{answer}\n{level} interval: {ends[0]} to {ends[1]}"
    from tabulate import tabulate

    assert measured.interval is not None  # noqa: S101 (tables have intervals)
    counts = zip(*(np.ravel(part) for part in (measured.answer, *measured.interval)), strict=True)
    rows = [
        [*cell, *(number(float(value), 1) for value in values)]
        for cell, values in zip(cells(asked), counts, strict=True)
    ]
    heads = [*asked.query.subjects, "count", "from", "to"]
    align = ["left"] * len(asked.query.subjects) + ["right"] * 3
    table = tabulate(rows, heads, tablefmt="simple", colalign=align, disable_numparse=True)
    return f"{table}\n{level} intervals of all cells together"


def bound_lines(bounds: Sequence[PartBound], confidence: float) -> str:
    """Bounds on the noise of each part, one line each."""
    level = f"with {100 * confidence:g} %{' jointly' if len(bounds) > 1 else ''}"
    return "\n".join(
        f"noise on {part.title}: at most {number(part.bound, part.bound)}{', ' + level if part is bounds[-1] else ''}"
        f"{rounded_first(part.step)}"
        for part in bounds
    )


def budget_line(asked: PaidQuery) -> str:
    """What is spent and what is left of the account."""
    account = asked.account
    epsilon, delta = account.spent
    with_delta = f" and delta {delta:g}" if account.delta else ""
    of_delta = f" and {account.delta:g}" if account.delta else ""
    # Only a concentrated account pays for both kinds of noise, at different prices.
    noise = f" with {asked.mechanism} noise" if isinstance(account, ConcentratedAccountant) else ""
    return (
        f"account {asked.path}: epsilon {epsilon:.6g}{with_delta} spent of {account.epsilon:g}{of_delta}; "
        f"{asked.left:.6g} left for one more answer{noise}"
    )


def plain_answer(asked: PaidQuery, measured: Measurement, confidence: float) -> dict[str, Any]:
    """The answer as JSON values."""
    interval = None if measured.interval is None else [np.asarray(end).tolist() for end in measured.interval]
    answer = measured.answer.tolist() if isinstance(measured.answer, np.ndarray) else measured.answer
    table = {"cells": [list(cell) for cell in cells(asked)]} if np.ndim(measured.answer) else {}
    if table:
        answer, interval = np.ravel(measured.answer).tolist(), [np.ravel(end).tolist() for end in interval or ()]
    return {
        "query": asked.query.to_dict(),
        "answer": answer,
        **table,
        "interval": interval,
        "confidence": confidence,
        "noise": plain_bounds(measured.bounds),
        **({"note": measured.note} if measured.note else {}),
        **plain_account(asked),
    }


def plain_quote(asked: PaidQuery, quote: Quote, confidence: float) -> dict[str, Any]:
    """The quote as JSON values."""
    cost = {"epsilon": quote.cost[0], "delta": quote.cost[1]}
    state = {"affordable": quote.affordable, **plain_account(asked)} if asked.path else {}
    return {
        "query": asked.query.to_dict(),
        "cost": cost,
        "confidence": confidence,
        "noise": plain_bounds(quote.bounds),
        **state,
    }


def plain_bounds(bounds: Sequence[PartBound]) -> list[dict[str, Any]]:
    """Bounds on the noise of each part as JSON values."""
    return [
        {"of": part.title, "at_most": part.bound, **({} if part.step is None else {"step": part.step})}
        for part in bounds
    ]


def plain_account(asked: PaidQuery) -> dict[str, Any]:
    """What is spent and left, as JSON values."""
    account = asked.account
    epsilon, delta = account.spent
    return {
        "spent": {"epsilon": epsilon, "delta": delta},
        "budget": {"epsilon": account.epsilon, "delta": account.delta},
        "left": asked.left,
    }


def cells(asked: PaidQuery) -> list[tuple[str, ...]]:
    """Labels of a histogram's or table's cells, in the order of the flattened answer."""
    return list(product(*(labels(asked.records, name) for name in asked.query.subjects)))


def rounded_first(step: float | None) -> str:
    """Words on the rounding before a selection; empty without one."""
    return f"; numbers are rounded to steps of {step:,.3g} first" if step else ""


def on_grid(value: float, step: float) -> str:
    """A point of a grid, with one digit more than its step has.

    Examples
    --------
    >>> on_grid(0.51300048828125, 4.5e-9), on_grid(41234.0, 1.0), on_grid(12.25, 0.01)
    ('0.5130004883', '41,234', '12.25')
    """
    value = round(value, max(0, 1 - math.floor(math.log10(step)))) if step else value
    return f"{int(value):,}" if value.is_integer() and abs(value) < 2**53 else f"{value:,}"


def number(value: float, bound: float) -> str:
    """A number with the digits that a bound on its error makes meaningful, and two more.

    Examples
    --------
    >>> number(41234.56789, 12.0), number(30.0, 12.0), number(0.123456, 0.003)
    ('41,234.6', '30', '0.12346')
    """
    if float(value).is_integer() and abs(value) < 2**53:
        return f"{int(value):,}"
    if not bound or not 1e-9 < abs(bound) < 1e15:
        return f"{value:,.6g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(bound))))}f}"
