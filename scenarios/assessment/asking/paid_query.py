"""One private query about a table: read the query, the account and the columns, then quote or answer."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from defenses.base import CodedTexts, ColumnTable, Microdata
from defenses.base.queries import BudgetSpent, Query, labels
from defenses.curators.answer_plan import Measurement, PartBound
from defenses.curators.curator_session import CuratorSession, SessionTerms
from defenses.dp import Account, Accountant, AdvancedAccountant, ConcentratedAccountant, zcdp_epsilon
from defenses.dp.exact import SystemGenerator
from defenses.dp.sensitivity import NEIGHBOURS
from metrics.columns import Domain, check_real, refuse, require
from scenarios.assessment.asking.grammar import Schema, read_query
from scenarios.tables import DateColumn, Roles, declared_domain, read_bytes, read_toml
from scenarios.tables.reading.column_file import ColumnFile
from scenarios.tables.review.rows_of_people import each_a_person, rows_of_each

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

# Account of private answers about one table: its kind, its file, and the table that it is bound to.

KINDS: dict[str, type[Account]] = {
    "sequential": Accountant,
    "advanced": AdvancedAccountant,
    "concentrated": ConcentratedAccountant,
}
"""Accounts by the name of their rule of composition. All of them hold for costs that depend on earlier answers."""


@dataclass(frozen=True)
class AccountTerms:
    """Options of an account as the user gives them; None for an option that is not given.

    - epsilon: The budget. It opens an account that does not exist yet.
    - delta: Delta of the budget, by default 0.
    - composition: One of `KINDS`; by default ``sequential`` without a delta and ``concentrated`` with one.
    - neighbours, {"replace", "add or remove"}: Relation between neighbouring tables, by default ``replace``.
    """

    epsilon: float | None = None
    delta: float | None = None
    composition: str | None = None
    neighbours: str | None = None


def open_account(path: Path | None, terms: AccountTerms, content: bytes, table: Path, person: str = "") -> Account:
    """Restore the account of a table, or make a new one, which has no file yet (`keep` writes it).

    The account keeps a random key and the keyed hash of the table's file. Without the key, the hash says nothing about
    the table. With the key, one can test guesses of the whole file. Only the owner can therefore read the account's
    file (`metrics.columns.files.write_atomically`), and it must not be published.

    - path: File of the account; without it, a new account is made.
    - terms: A new account's budget. Whatever it says about an account that exists must agree with it.
    - content: Content of the table's file.
    - person: Column of the person whom a new account protects; empty for one row.

    A ValueError is raised if the account is that of another table or budget, or if there is none and no budget is
    given.
    """
    if path is not None and path.exists():
        account = Account.restore(path)
        _check_table(account, path, content, table)
        _check_agreement(account, path, terms)
        # Queries about rows, or about others, are not paid from an account that protects people.
        protected = account.about.get("person", "")
        refuse(
            protected not in ("", person),
            f"--account: {path} protects the people of column {protected!r}; name it as `person` in the roles file",
        )
        return account
    if terms.epsilon is None:
        raise ValueError(f"--account: there is no account {path}; --budget EPSILON opens it")
    check_real("--budget", terms.epsilon, low=0, open_low=True)
    delta = terms.delta or 0.0
    check_real("--delta", delta, low=0, high=1, open_high=True)
    composition = terms.composition or ("concentrated" if delta else "sequential")
    refuse(composition != "sequential" and not delta, f"--composition {composition}: needs a --delta above 0")
    key = secrets.token_hex(32)
    about = {"neighbours": terms.neighbours or NEIGHBOURS[0], "key": key, "table": fingerprint(content, key)}
    about |= {"person": person} if person else {}
    return KINDS[composition](epsilon=terms.epsilon, delta=delta, about=about)


def keep(account: Account, path: Path) -> Account:
    """Write a new account to its file, unless another process just did, and return the account of the file.

    A ValueError is raised if another process opened an account of another table or budget there.
    """
    if account.path is not None:
        return account
    try:
        return type(account)(epsilon=account.epsilon, delta=account.delta, path=path, about=account.about)
    except ValueError as error:
        if not path.exists():
            raise ValueError(f"--account: {str(error).removeprefix('path: ')}") from None
        raise ValueError(f"--account: {path} was just opened by another process; ask again") from None


def composition_of(account: Account) -> str:
    """Name in `KINDS` of an account's rule of composition, or else its class name."""
    return next((name for name, kind in KINDS.items() if type(account) is kind), type(account).__name__)


def fingerprint(content: bytes, key: str) -> str:
    """Keyed hash (BLAKE2b) of a table's file, 32 hexadecimal digits."""
    return hashlib.blake2b(content, key=bytes.fromhex(key), digest_size=16).hexdigest()


def _check_table(account: Account, path: Path, content: bytes, table: Path) -> None:
    try:
        bound_hash, key, _ = (account.about[name] for name in ("table", "key", "neighbours"))
        same = hmac.compare_digest(bound_hash, fingerprint(content, key))
    except (KeyError, ValueError, TypeError):
        raise ValueError(f"--account: {path} is bound to no table; `tokumei ask --budget` opens one that is") from None
    require(
        same,
        f"--account: {path} is the account of another table than {table}. A changed table needs an account of its "
        "own; the budgets of both accounts add up for people in both tables",
    )


def _check_agreement(account: Account, path: Path, terms: AccountTerms) -> None:
    terms_of_options = {
        "--budget": (terms.epsilon, account.epsilon),
        "--delta": (terms.delta, account.delta),
        "--composition": (terms.composition, composition_of(account)),
        "--neighbours": (terms.neighbours, account.about["neighbours"]),
    }
    for option, (wanted, opened_with) in terms_of_options.items():
        refuse(
            wanted is not None and wanted != opened_with,
            f"{option}: {path} was opened with {opened_with}, which stays; got {wanted}",
        )


@dataclass(frozen=True)
class Quote:
    """Price of a query before anything is spent.

    - cost: Epsilon and delta of the answer.
    - bounds: Bounds on the error of the noise in each part of the answer.
    - affordable: Whether the account's budget allows it.
    """

    cost: tuple[float, float]
    bounds: tuple[PartBound, ...]
    affordable: bool


class PaidQuery:
    """A query about a table, with the epsilon to spend on it and the account that pays.

    Queries are refused here or in `quote`, for public reasons only or because the file is no table. A ValueError says
    why. An account of another table is refused, too.

    - roles: Roles file that declares the domains of the columns.
    - text: The query (`scenarios.assessment.asking.grammar`).
    - mechanism, {"laplace", "gaussian"}: Noise of numbers.
    - account: File of the account; without it, the query can only be quoted.
    - terms: Terms of a new account.
    - rows_per_person: Largest number of rows of a person that answers are about, drawn at random; by default 1. Only
      where the roles file names the column of the person.
    """

    def __init__(
        self,
        table: Path,
        roles: Path | None,
        text: str,
        *,
        epsilon: float,
        mechanism: str = "laplace",
        account: Path | None = None,
        terms: AccountTerms,
        rows_per_person: int | None = None,
    ) -> None:
        check_real("--epsilon", epsilon, low=0, open_low=True)
        declared = Roles() if roles is None else read_toml(roles, read_bytes(roles), Roles)
        content = read_bytes(table)
        file = ColumnFile.of(table, content, declared)
        for name, key in declared.named().items():
            refuse(name not in file.columns, f"{roles}, {key}: there is no column {name!r} in {table}")
        domains = public_domains(declared)
        where = "a roles file (--roles)" if roles is None else str(roles)
        schema = Schema(file.columns, domains, tuple(declared.identifiers), where)
        self.query: Query = _read(text, schema, declared)
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.path = account
        if account is None and terms.epsilon is None:
            # A quote needs no budget beyond its own cost.
            terms = replace(terms, epsilon=epsilon)
        self.account: Account = open_account(account, terms, content, table, declared.person or "")
        refuse(
            mechanism == "gaussian" and not self.account.delta,
            "--mechanism gaussian: needs an account with a --delta above 0",
        )
        refuse(
            mechanism == "gaussian" and not isinstance(self.account, ConcentratedAccountant),
            f"--mechanism gaussian: needs an account with --composition concentrated, and that of {account} is "
            f"{composition_of(self.account)}",
        )
        self._terms = SessionTerms(
            float(self.account.epsilon), float(self.account.delta), mechanism, self.account.about["neighbours"]
        )
        columns = [*self.query.subjects, *(condition.column for condition in self.query.where)]
        refuse(
            rows_per_person is not None and declared.person is None,
            "--rows-per-person: name the column of the person as `person` in the roles file",
        )
        self._rows = rows_per_person or 1
        refuse(
            self._rows > 1 and self._terms.neighbours == "replace",
            f"--rows-per-person {self._rows}: people have different numbers of rows, so whoever replaces a person "
            "changes the number of rows; take 1, or an account with --neighbours 'add or remove'",
        )
        frame = cast("pd.DataFrame", _rows_of_people(file, columns, domains, declared.person, self._rows))
        # Where people may be added or removed, the refusal would tell an empty table from one with a single record.
        refuse(not len(frame) and self._terms.neighbours == "replace", f"{table}: names columns but holds no record")
        self.records = Microdata(frame, domains={name: domains[name] for name in columns})
        self.notes = (*map(str, file.header.notes), *self._of_people(declared.person))

    def _of_people(self, person: str | None) -> Iterator[str]:
        """What the guarantee and the answer are about, where people have several rows."""
        if person is None:
            return
        drawn = "1 row" if self._rows == 1 else f"at most {self._rows} rows"
        yield f"the guarantee is about people ({person}): the answer is about {drawn} of each, drawn at random"
        if "person" not in self.account.about:
            yield f"{self.path} was opened for rows: what it paid for before protects one row, not a person"

    @property
    def left(self) -> float:
        """Largest epsilon of one more answer with this noise; for Gaussian noise, at the account's delta."""
        if self.mechanism == "gaussian" and isinstance(self.account, ConcentratedAccountant):
            rho = self.account.remaining_rho
            return zcdp_epsilon(rho, float(self.account.delta)) if rho else 0.0
        return self.account.remaining

    def quote(self, confidence: float) -> Quote:
        """Cost and bounds on the noise; nothing is spent. A query that these terms do not allow raises a ValueError."""
        cost, bounds = self._session(self.account).quote(self.query, self.epsilon, confidence=confidence)
        return Quote(cost[:2], bounds, self.account.affords(*cost))

    def answer(self, confidence: float) -> Measurement:
        """Answer the query, after its cost is entered into the account's file.

        An answer outside of its public range, such as a negative count, is moved to the nearer end of the range. This
        is post-processing and makes the error smaller, but the answer is then biased.

        `BudgetSpent` is raised if the cost exceeds the remaining budget. A ValueError, with nothing spent, is raised if
        these terms do not allow the query, or no account is named.
        """
        if self.path is None:
            raise ValueError("--account: name the file of the account that pays (--dry-run needs none)")
        measured = None
        if self.quote(confidence).affordable:
            self.account = keep(self.account, self.path)
            # Another process may have spent the rest meanwhile.
            with suppress(BudgetSpent):
                measured = self._session(self.account).measure(self.query, self.epsilon, confidence=confidence)
        if measured is None:
            raise BudgetSpent(
                f"the budget is spent: epsilon {self.epsilon:g} more would exceed epsilon {self.account.epsilon:g} of "
                f"{self.path}; {self.left:.6g} is left; nothing is answered"
            )
        if measured.interval is None:
            return measured
        # The interval lies within the public range and contains every noisy answer of that range.
        inside = np.clip(np.asarray(measured.answer), *measured.interval)
        return replace(measured, answer=inside if inside.ndim else float(inside))

    def _session(self, account: Account) -> CuratorSession:
        return CuratorSession(self.records, cast("Generator", SystemGenerator()), self._terms, account, rows=self._rows)


def _rows_of_people(
    file: ColumnFile, columns: Sequence[str], domains: Mapping[str, Domain], person: str | None, most: int
) -> ColumnTable:
    """Some columns of a file; where a column names the person, of at most so many rows of each, drawn at random."""
    if person is None:
        return file.read(columns, domains)
    names = {name: domain for name, domain in domains.items() if name != person}
    numbered = cast("CodedTexts", file.read([person], names)[person])
    numbers = {text: number for number, text in enumerate(dict.fromkeys(text.strip() for text in numbered.texts))}
    by_code = np.array([*(numbers[text.strip()] for text in numbered.texts), -1], dtype=np.intp)
    people = each_a_person(by_code[numbered.codes])
    return file.read(columns, domains).take(rows_of_each(people, most, np.random.default_rng()))


def _read(text: str, schema: Schema, declared: Roles) -> Query:
    """Read a query; one about dates is refused in words."""
    try:
        return read_query(text, schema)
    except ValueError:
        for name, column in declared.columns.items():
            if isinstance(column, DateColumn) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                raise ValueError(f"column {name!r} holds dates, and queries about dates are not answered") from None
        raise


def public_domains(declared: Roles) -> dict[str, Domain]:
    """Domains that a roles file declares, by column, except those of dates."""
    described = {
        name: declared_domain(column)[0]
        for name, column in declared.columns.items()
        if not isinstance(column, DateColumn)
    }
    return {name: domain for name, domain in described.items() if domain is not None}


# Private answers as text and as JSON values.


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
