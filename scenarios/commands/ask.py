"""``tokumei ask``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import echo, echo_each, roles_option

if TYPE_CHECKING:
    from scenarios.assessment.asking.paid_query import PaidQuery

EPILOG = """\b
Examples:
  tokumei ask people.csv --roles roles.toml "mean income" --epsilon 0.5 --dry-run
  tokumei ask people.csv --roles roles.toml "mean income where job=clerk" --epsilon 0.5 \\
      --account account.toml --budget 2
  tokumei ask people.csv --roles roles.toml "count where age between 30 and 39 and job=clerk|cook" \\
      --epsilon 0.1 --account account.toml
  tokumei ask people.csv --roles roles.toml "histogram of job" --epsilon 0.2 --account account.toml --format json

\b
Queries: `tokumei list queries` shows them, `tokumei info Correlation` describes one.
Conditions: COLUMN=VALUE, COLUMN=VALUE|VALUE, COLUMN<NUMBER (<=, >, >=), COLUMN between NUMBER and NUMBER.
"""
MECHANISMS = ("laplace", "gaussian")


@click.command(epilog=EPILOG)
@click.argument("table", type=click.Path(path_type=Path))
@click.argument("query")
@roles_option
@click.option("--epsilon", type=float, required=True, help="Epsilon to spend on the answer.")
@click.option(
    "--account",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the account that pays (TOML). Keep it: it holds what was spent on this table.",
)
@click.option("--budget", type=float, metavar="EPSILON", help="Open the account with this budget, if it is new.")
@click.option("--delta", type=float, help="Delta of a new account's budget.  [default: 0]")
@click.option(
    "--composition",
    type=click.Choice(("sequential", "advanced", "concentrated")),
    help="How a new account adds costs up.  [default: sequential without a delta, concentrated with one]",
)
@click.option(
    "--neighbours",
    type=click.Choice(("replace", "add or remove")),
    help="What a new account protects: one record replaced, or added or removed.  [default: replace]",
)
@click.option(
    "--rows-per-person",
    type=click.IntRange(1),
    help="Rows of each person that the answer is about, drawn at random, at most. Needs a `person` in the roles file."
    "  [default: 1]",
)
@click.option(
    "--mechanism",
    type=click.Choice(MECHANISMS),
    default="laplace",
    show_default=True,
    help="Noise; gaussian needs a concentrated account.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 0.999999, min_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of the interval.",
)
@click.option("--dry-run", is_flag=True, help="Show the cost and the size of the noise; spend nothing.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def ask(
    table: Path,
    query: str,
    roles: Path | None,
    epsilon: float,
    account: Path | None,
    budget: float | None,
    delta: float | None,
    composition: str | None,
    neighbours: str | None,
    rows_per_person: int | None,
    mechanism: str,
    confidence: float,
    form: str,
    *,
    dry_run: bool,
) -> None:
    """Answer QUERY about TABLE (CSV or Parquet) with differential privacy, paid from an account.

    The roles file must declare the domain of every column in the query: bounds of numbers, or categories. Numbers
    outside of their bounds are clipped, a missing number counts as the middle of the bounds, and a category that is not
    declared is counted nowhere. Interval and bounds are about the noise, not about what this changes. An answer outside
    of its public range, such as a negative count, is shown as the nearer end of the range. The noise comes from the
    operating system's cryptographic source, so that no seed repeats it.

    Where the roles file names the column of the person as `person`, the guarantee is about people. The answer is then
    about one row of each person, drawn at random, or about as many as --rows-per-person says.

    The cost is written to the account before the answer is shown. Processes may share an account. An account belongs
    to one table and refuses any other. Keep its file private: its key lets others test guesses of the whole table.
    """
    from scenarios.assessment.asking import paid_query as answer_text
    from scenarios.assessment.asking.paid_query import AccountTerms, PaidQuery

    asked = PaidQuery(
        table,
        roles,
        query,
        epsilon=epsilon,
        mechanism=mechanism,
        account=account,
        terms=AccountTerms(budget, delta, composition, neighbours),
        rows_per_person=rows_per_person,
    )
    echo_each("note", asked.notes)
    if dry_run:
        _show_quote(asked, confidence, form)
        return
    measured = asked.answer(confidence)
    echo_each("note", [measured.note or None])
    if form == "json":
        echo(json.dumps(answer_text.plain_answer(asked, measured, confidence), indent=2, ensure_ascii=False))
        return
    echo(answer_text.answer_lines(asked, measured, confidence))
    echo(answer_text.budget_line(asked))


def _show_quote(asked: PaidQuery, confidence: float, form: str) -> None:
    """Cost, size of the noise, and what the account has left."""
    from scenarios.assessment.asking import paid_query as answer_text

    quote = asked.quote(confidence)
    if form == "json":
        echo(json.dumps(answer_text.plain_quote(asked, quote, confidence), indent=2, ensure_ascii=False))
        return
    epsilon, delta = quote.cost
    echo(f"cost: epsilon {epsilon:g}{f', delta {delta:g}' if delta else ''}; nothing is spent")
    echo(answer_text.bound_lines(quote.bounds, confidence))
    if asked.path is not None:
        echo(answer_text.budget_line(asked))
        if not quote.affordable:
            echo("the answer would exceed the budget and be refused")
