"""``tokumei secure``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from defenses import federated
from metrics.columns import refuse, require
from scenarios.commands.common import echo

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from metrics.columns import Floats

EPILOG = """\b
Examples:
  tokumei secure greater 1200000 950000
  tokumei secure maximum bids.csv:price
  tokumei secure count north.csv:diabetes south.csv:diabetes --on patient
  tokumei secure distance 7000000,0,0 7000400,300,0 --limit 1000
  tokumei secure correlation work.csv:hours school.csv:failed --on student
"""
TRUE, FALSE = ("1", "true", "yes", "y"), ("0", "false", "no", "n")

_on = click.option(
    "--on", "key", help="Column that names the person in both files; without it, rows stand in one order."
)
_seed = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the protocol's randomness; without it, the system's."
)
_nodes = click.option(
    "--nodes", type=int, default=4, show_default=True, help="Number of computing nodes, at least 2t + 2."
)
_threshold = click.option(
    "--threshold", type=int, default=1, show_default=True, help="t: nodes that may pool what they see."
)
_format = click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)


@click.group(epilog=EPILOG)
def secure() -> None:
    """Compute on two parties' data without pooling it, and show the bytes that they exchange.

    Both parties run in this process, to show what a protocol computes and costs. A column is given as FILE:COLUMN, a
    CSV or Parquet file. The numbers of the others stay secret from each party; the answer itself is exact.
    """


@secure.command(context_settings={"ignore_unknown_options": True})
@click.argument("left", type=click.UNPROCESSED)
@click.argument("right", type=click.UNPROCESSED)
@click.option("--bits", type=click.IntRange(1, 63), default=32, show_default=True, help="Bits of a number.")
@_seed
@_format
def greater(left: str, right: str, bits: int, seed: int | None, form: str) -> None:
    """Yao's millionaires: does the LEFT party own more than the RIGHT one? By a garbled circuit."""
    own, other = _integer("left", left, bits), _integer("right", right, bits)
    answer = _run(lambda: federated.secure_greater(own, other, _rng(seed), bits=bits))
    _show("left is greater", "yes" if answer.value else "no", _cost(answer), form)


@secure.command()
@click.argument("numbers", metavar="FILE:COLUMN")
@click.option("--bits", type=click.IntRange(1, 63), default=32, show_default=True, help="Bits of a number.")
@_seed
@_format
def maximum(numbers: str, bits: int, seed: int | None, form: str) -> None:
    """Maximum of a column of integers: each person splits its number between two servers. By a garbled circuit."""
    values = _integers(numbers, _column(numbers, None)[0], bits)
    answer = _run(lambda: federated.secure_maximum(values, _rng(seed), bits=bits))
    _show("maximum", answer.value, _cost(answer), form)


@secure.command()
@click.argument("left", metavar="FILE:COLUMN")
@click.argument("right", metavar="FILE:COLUMN")
@_on
@_seed
@_format
def count(left: str, right: str, key: str | None, seed: int | None, form: str) -> None:
    """Number of people for whom both columns say yes, such as patients of two hospitals. By a garbled circuit."""
    first, second = _aligned(left, right, key)
    truths = [_truths(name, values) for name, values in ((left, first), (right, second))]
    answer = _run(lambda: federated.secure_common_count(truths[0], truths[1], _rng(seed)))
    _show("people in common", answer.value, _cost(answer), form)


@secure.command(context_settings={"ignore_unknown_options": True})
@click.argument("left", metavar="X,Y,...", type=click.UNPROCESSED)
@click.argument("right", metavar="X,Y,...", type=click.UNPROCESSED)
@click.option("--limit", type=click.IntRange(min=0), required=True, help="Largest distance that counts as near.")
@_nodes
@_threshold
@_seed
@_format
def distance(left: str, right: str, limit: int, nodes: int, threshold: int, seed: int | None, form: str) -> None:
    """Are two satellites within the limit of each other? By Shamir shares and a garbled circuit.

    Coordinates are integers in one unit, such as metres. Neither a position nor the distance is opened.
    """
    own, other = _coordinates("left", left), _coordinates("right", right)
    answer = _run(lambda: federated.secure_distance(own, other, limit, _rng(seed), nodes=nodes, threshold=threshold))
    _show("within the limit", "yes" if answer.value else "no", _cost(answer), form)


@secure.command()
@click.argument("left", metavar="FILE:COLUMN")
@click.argument("right", metavar="FILE:COLUMN")
@_on
@_nodes
@_threshold
@_seed
@_format
def correlation(
    left: str, right: str, key: str | None, nodes: int, threshold: int, seed: int | None, form: str
) -> None:
    """Pearson's correlation of two offices' columns. By Shamir shares at several nodes."""
    first, second = _aligned(left, right, key)
    numbers = [_numbers(name, values) for name, values in ((left, first), (right, second))]
    value = federated.secure_correlation(numbers[0], numbers[1], _rng(seed), nodes=nodes, threshold=threshold)
    # Words of 8 bytes: a share of each number to each node, a share of 0 from both offices, and each node's result.
    sent = {"shares": 2 * nodes * numbers[0].size * 8, "shares of 0": 2 * nodes * 8, "results": nodes * 8}
    _show("correlation", round(value, 6), {"bytes": sum(sent.values()), "messages": sent}, form)


def _rng(seed: int | None) -> Generator:
    """Generator of a seed, or of the system's randomness."""
    import numpy as np

    return np.random.default_rng(seed)


def _run(protocol: Any) -> federated.SecureAnswer:
    """Run a protocol; a missing package is bad input."""
    try:
        answer: federated.SecureAnswer = protocol()
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    return answer


def _cost(answer: federated.SecureAnswer) -> dict[str, Any]:
    return {"and_gates": answer.cost.and_gates, "bytes": answer.cost.total_bytes, "messages": dict(answer.cost.sent)}


def _show(title: str, value: object, cost: Mapping[str, Any], form: str) -> None:
    if form == "json":
        echo(json.dumps({"answer": title, "value": value, **cost}, indent=2))
        return
    from leaderboard.pages.tables import text_table

    gates = [("AND gates", f"{cost['and_gates']:,}")] if "and_gates" in cost else []
    messages = [(f"  {message}", f"{size:,}") for message, size in cost["messages"].items()]
    rows = [(title, str(value)), *gates, ("bytes sent", f"{cost['bytes']:,}"), *messages]
    echo(text_table((), rows, style="plain"))


def _column(text: str, key: str | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """A column given as FILE:COLUMN, and the key column of its file.

    Raises ValueError if the text has no colon, the file cannot be read, or lacks a column.
    """
    from scenarios.tables import input_path, load_table

    file, colon, name = text.rpartition(":")
    require(colon and file and name, f"give a column as FILE:COLUMN, got {text!r}")
    frame = load_table(input_path(file)).records.frame
    for wanted in (name, key):
        refuse(
            wanted is not None and wanted not in frame,
            f"{file}: there is no column {wanted!r}; it has {', '.join(map(str, frame.columns))}",
        )
    if frame[name].isna().any():
        row = int(frame[name].isna().to_numpy().argmax()) + 1
        raise ValueError(f"{file}, row {row}, column {name}: the value is missing")
    return frame[name].to_numpy(), None if key is None else frame[key].to_numpy()


def _aligned(left: str, right: str, key: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both columns with each person at the same position."""
    import pandas as pd

    (first, first_key), (second, second_key) = _column(left, key), _column(right, key)
    if first_key is None or second_key is None:
        require(
            len(first) == len(second),
            f"{left} has {len(first)} rows and {right} has {len(second)}; align them or give --on",
        )
        return first, second
    people, others = pd.Index(first_key), pd.Index(second_key)
    for name, index in ((left, people), (right, others)):
        require(not index.has_duplicates, f"{name}: column {key} names a person twice")
    require(
        len(people) == len(others) and people.isin(others).all(),
        f"column {key}: both files must list the same people, which is what both parties know",
    )
    return first, second[others.get_indexer(people)]


def _numbers(name: str, values: NDArray[Any]) -> Floats:
    try:
        return values.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: the column holds text, not numbers") from None


def _integer(name: str, text: str, bits: int) -> int:
    """An argument as an integer. Errors do not show it: it is private, and commands' errors may be logged."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be an integer from 0 to 2^{bits} - 1") from None


def _coordinates(name: str, text: str) -> list[int]:
    """The integers of a position. Errors do not show them."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} must be integers with commas between them, such as 7000000,0,0") from None


def _integers(name: str, values: NDArray[Any], bits: int) -> list[int]:
    """The exact integers of a column, which floating point would round from 2^53 on."""
    _numbers(name, values)
    integers = []
    for row, value in enumerate(values, start=1):
        try:
            exact = Decimal(str(value))
            integer = int(exact)
        except (ArithmeticError, ValueError):
            exact, integer = Decimal(0), -1
        require(
            integer == exact and 0 <= integer < 2**bits,
            f"{name}, row {row}: the column must hold integers from 0 to 2^{bits} - 1",
        )
        integers.append(integer)
    return integers


def _truths(name: str, values: NDArray[Any]) -> list[bool]:
    texts = [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value) for value in values]
    for row, text in enumerate(texts, start=1):
        require(text.lower() in (*TRUE, *FALSE), f"{name}, row {row}: the column must hold yes or no (or 1 or 0)")
    return [text.lower() in TRUE for text in texts]
