"""Account of private answers about one table: its kind, its file, and the table that it is bound to."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path

from defenses.dp.account import Account
from defenses.dp.accountant import Accountant, AdvancedAccountant
from defenses.dp.concentrated_accountant import ConcentratedAccountant
from defenses.dp.sensitivity import NEIGHBOURS
from metrics.columns.parameters import check_real, refuse, require

KINDS: dict[str, type[Account]] = {
    "sequential": Accountant,
    "advanced": AdvancedAccountant,
    "concentrated": ConcentratedAccountant,
}
"""Accounts by the name of their rule of composition. All of them hold for costs that depend on earlier answers."""


@dataclass(frozen=True)
class AccountTerms:
    """Options of an account as the user gives them; None for an option that is not given.

    Parameters
    ----------
    epsilon : float, optional
        The budget. It opens an account that does not exist yet.
    delta : float, optional
        Delta of the budget, by default 0.
    composition : str, optional
        One of `KINDS`; by default ``sequential`` without a delta and ``concentrated`` with one.
    neighbours : {"replace", "add or remove"}, optional
        Relation between neighbouring tables, by default ``replace``.
    """

    epsilon: float | None = None
    delta: float | None = None
    composition: str | None = None
    neighbours: str | None = None


def open_account(path: Path | None, terms: AccountTerms, content: bytes, table: Path) -> Account:
    """Restore the account of a table, or make a new one, which has no file yet (`keep` writes it).

    Parameters
    ----------
    path : Path, optional
        File of the account; without it, a new account is made.
    terms : AccountTerms
        A new account's budget. Whatever it says about an account that exists must agree with it.
    content : bytes
        Content of the table's file.
    table : Path
        File of the table, named in errors.

    Raises
    ------
    ValueError
        If the account is that of another table or of another budget, or there is none and no budget is given.

    Notes
    -----
    The account keeps a random key and the keyed hash of the table's file. Without the key, the hash says nothing about
    the table. With the key, one can test guesses of the whole file. Only the owner can therefore read the
    account's file (`metrics.columns.files.write_atomically`), and it must not be published.
    """
    if path is not None and path.exists():
        account = Account.restore(path)
        _check_table(account, path, content, table)
        _check_agreement(account, path, terms)
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
    return KINDS[composition](epsilon=terms.epsilon, delta=delta, about=about)


def keep(account: Account, path: Path) -> Account:
    """Write a new account to its file, unless another process just did, and return the account of the file.

    Raises
    ------
    ValueError
        If another process opened an account of another table or budget there.
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
        if wanted is not None and wanted != opened_with:
            raise ValueError(f"{option}: {path} was opened with {opened_with}, which stays; got {wanted}")
