"""Privacy accounts, which refuse costs that exceed the budget: the contract, and the methods of composition."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import threading
import tomllib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from defenses.base.queries import BudgetSpent
from defenses.dp.composition import check_cost, group_privacy, zcdp_epsilon, zcdp_rho
from defenses.dp.mechanism import check_delta
from metrics.columns import bisect, check_real, refuse, refuse_rows, require, write_atomically

# The file of a privacy account, TOML or JSON: written atomically, and by one process at a time.

Costs = Counter[tuple[float, float, float | None]]
"""Number of times that each cost (epsilon, delta, rho) was spent; rho is None where an answer has none."""

TOML = ".toml"
"""Ending of the names of accounts that are written as TOML."""
HEADER = "# Privacy account. Do not edit: an answer is paid for once, and what is erased here was still published.\n"


@dataclass(frozen=True)
class Entries:
    """Contents of an account's file.

    - account: Class name of the account.
    - about: What the account is about: texts by name.
    """

    account: str
    epsilon: float
    delta: float
    costs: Costs
    about: dict[str, str] = field(default_factory=dict)


def account_path(path: str | Path) -> Path:
    """Path of an account's file, behind a symbolic link: each write would replace the link by a second account."""
    path = Path(path)
    return path.resolve() if path.is_symlink() else path


def read_entries(path: Path) -> Entries:
    """Read the file of an account: TOML if its name ends in ``.toml``, otherwise JSON.

    Raises ValueError if the file cannot be read, holds no account, or has a second name that would keep the old costs
    (a hard link).
    """
    try:
        names = path.stat().st_nlink
        text = path.read_text(encoding="utf-8")
        if path.suffix == TOML:
            content = tomllib.loads(text)
            rows = [(row["epsilon"], row["delta"], row.get("rho"), row["answers"]) for row in content.get("costs", [])]
        else:
            content = json.loads(text)
            rows = content["costs"]
        entries = _entries(content, rows)
    except OSError as error:
        raise ValueError(f"path: {path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"path: {path} holds no account ({type(error).__name__})") from None
    require(
        names <= 1, f"path: {path} has {names} names (hard links), and the others would keep the old costs; remove them"
    )
    for cost in entries.costs:
        check_cost(*cost)
    return entries


def write_entries(path: Path, entries: Entries) -> None:
    """Replace the file atomically: after a crash it holds either the old entries or the new ones."""
    budget: dict[str, Any] = {"account": entries.account, "epsilon": entries.epsilon, "delta": entries.delta}
    if path.suffix == TOML:
        import tomli_w

        costs = [
            {"epsilon": e, "delta": d, **({} if rho is None else {"rho": rho}), "answers": number}
            for (e, d, rho), number in entries.costs.items()
        ]
        text = HEADER + tomli_w.dumps({**budget, "about": entries.about, "costs": costs})
    else:
        about = {"about": entries.about} if entries.about else {}
        text = json.dumps({**budget, **about, "costs": [[*cost, number] for cost, number in entries.costs.items()]})
    write_atomically(path, text.encode(), durable=True)


def _entries(content: Any, rows: Iterable[Any]) -> Entries:
    """Contents of an account's file, given its costs as epsilon, delta, rho and number of answers."""
    about = content.get("about", {})
    texts = isinstance(about, dict) and all(isinstance(value, str) for value in about.values())
    require(texts, "about must hold texts", TypeError)
    costs: Costs = Counter()
    for e, d, r, number in rows:
        require(type(number) is int and number >= 1, "answers must be an integer of at least 1", TypeError)
        costs[e, d, r] += number
    return Entries(str(content["account"]), content["epsilon"], content["delta"], costs, about)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Lock a file against other processes, and other accounts of this process, until the block ends."""
    # The lock is on the folder, because every write replaces the file itself.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


TOLERANCE = 2.0**-50
"""Relative excess that rounding may cause and that counts as none, so that ten tenths are one."""


class Account(ABC):
    """Privacy account: the costs spent from a budget of epsilon and delta. Subclasses are methods of composition.

    Threads may share an account. With a path, every cost is on the disk before `spend` returns, and so before the
    query is answered. After a crash, `restore` knows the cost of every answer, and at worst that of one answer that was
    never given. Processes may share a file: `spend` locks it and adds to its current contents. `spent` and `remaining`
    are as of the account's own last access to the file.

    Parameters
    ----------
    epsilon : float
        The budget, positive.
    delta : float
        In [0, 1).
    path : str or Path, optional
        File of the account; it must not exist yet. It is TOML if its name ends in ``.toml``, otherwise JSON. A symbolic
        link stands for the file that it names.
    about : mapping of str, optional
        What the account is about: texts by name, which its file keeps and `restore` gives back.

    Attributes
    ----------
    adaptive : bool
        Whether the budget holds even where costs depend on earlier answers; a property of the class.
    refused : int
        Number of costs refused since the account was created or restored.

    Raises
    ------
    ValueError
        If a parameter is refused or the file exists.
    """

    kinds: ClassVar[dict[str, type[Account]]] = {}
    adaptive: ClassVar[bool] = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        Account.kinds[cls.__name__] = cls

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float = 0.0,
        path: str | Path | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.delta = check_real("delta", delta, low=0, high=1, open_high=True)
        self.about = dict(about or {})
        self.path = None if path is None else account_path(path)
        self.refused = 0
        self._lock = threading.RLock()
        self._costs: Costs = Counter()
        if self.path is not None:
            require(self.path.parent.is_dir(), f"path: there is no folder {self.path.parent}")
            with alone(self.path):
                refuse(
                    self.path.exists(),
                    f"path: {self.path} exists; restore the account instead, so that its earlier costs count",
                )
                write_entries(self.path, self._entries(self._costs))

    @classmethod
    def restore(cls, path: str | Path) -> Self:
        """Restore an account from its file.

        Raises
        ------
        ValueError
            If the file cannot be read or holds no account of this class.
        """
        path = account_path(path)
        entries = read_entries(path)
        kind = cls.kinds.get(entries.account)
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"path: {path} holds an account of {entries.account}, not of {cls.__name__}")
        account = kind(epsilon=entries.epsilon, delta=entries.delta, about=entries.about)
        account.path = path
        account._costs = entries.costs
        return account

    @property
    def spent(self) -> tuple[float, float]:
        """Epsilon and delta of all costs so far."""
        with self._lock:
            return self.total(self._costs)

    @property
    @abstractmethod
    def remaining(self) -> float:
        """Largest epsilon of one more answer without delta."""

    @abstractmethod
    def total(self, costs: Costs) -> tuple[float, float]:
        """Compose costs (epsilon, delta, rho) with their multiplicities into one epsilon and delta."""

    def spend(self, epsilon: float, delta: float = 0.0, rho: float | None = None) -> None:
        """Enter the cost of an answer before it is given.

        Parameters
        ----------
        epsilon, delta : float
            Guarantee of the answer.
        rho : float, optional
            Its zero-concentrated privacy, where it has one; only some accounts use it.

        Raises
        ------
        BudgetSpent
            If the cost would exceed the budget; the account stays unchanged.
        ValueError
            If a cost is refused, or the account's file is missing or no longer holds this account.
        """
        check_cost(epsilon, delta, rho)
        with self._lock, contextlib.nullcontext() if self.path is None else alone(self.path):
            costs = self._costs_with(epsilon, delta, rho)
            if self._exceeds(costs):
                self.refused += 1
                raise BudgetSpent(
                    f"epsilon {epsilon:.6g}, delta {delta:.3g} more would exceed the budget of epsilon "
                    f"{self.epsilon:g}, delta {self.delta:g}; nothing is answered"
                )
            if self.path is not None:
                write_entries(self.path, self._entries(costs))
            self._costs = costs

    def affords(self, epsilon: float, delta: float = 0.0, rho: float | None = None) -> bool:
        """Whether `spend` would accept a cost now; nothing is spent.

        Raises
        ------
        ValueError
            If a cost is refused, or the account's file is missing or no longer holds this account.
        """
        check_cost(epsilon, delta, rho)
        with self._lock:
            return not self._exceeds(self._costs_with(epsilon, delta, rho))

    def spend_parallel(self, costs: Sequence[tuple[float, float]], members: Sequence[ArrayLike]) -> None:
        """Enter the cost of answers on disjoint sets of rows: the largest of their costs.

        Row numbers are public and a replaced record keeps its row, so that only one of the answers depends on it.

        Parameters
        ----------
        costs : sequence of tuple of float
            Epsilon and delta of each answer.
        members : sequence of array_like of bool, shape (n,) each
            The rows that each answer depends on.

        Raises
        ------
        BudgetSpent
            If the budget would be exceeded.
        ValueError
            If `members` does not hold one boolean mask a cost, all of one length, or a row belongs to two masks.
        """
        masks = [np.asarray(mask) for mask in members]
        require(
            masks and len(masks) == len(costs), f"members must hold one mask a cost, {len(costs)}, got {len(masks)}"
        )
        refuse(
            any(mask.dtype != bool or mask.ndim != 1 or mask.shape != masks[0].shape for mask in masks),
            "members must hold boolean masks of one length",
        )
        refuse_rows(
            np.sum(masks, axis=0) > 1, lambda row: f"members: row {row} belongs to two parts; such costs add up"
        )
        for epsilon, delta in costs:
            check_cost(epsilon, delta)
        self.spend(max(e for e, _ in costs), max(d for _, d in costs))

    def group(self, m: int) -> tuple[float, float]:
        """Epsilon and delta of all costs so far for a group of m records."""
        return group_privacy(*self.spent, m)

    def _exceeds(self, costs: Costs) -> bool:
        epsilon, delta = self.total(costs)
        return not (epsilon <= self.epsilon * (1 + TOLERANCE) and delta <= self.delta * (1 + TOLERANCE))

    def _one_more(self, high: float, steps: int) -> float:
        """Largest epsilon in [0, high] of one more answer without delta that keeps the total within the budget."""

        def fits(epsilon: float) -> bool:
            return self.total(self._costs + Counter({(epsilon, 0.0, None): 1}))[0] <= self.epsilon

        with self._lock:
            return bisect(fits, 0.0, high, steps)[0]

    def _costs_with(self, epsilon: float, delta: float, rho: float | None) -> Costs:
        """The costs as the file holds them now, and one more; ValueError if the file belongs to another account."""
        if self.path is not None:
            entries = read_entries(self.path)
            require(
                replace(entries, costs=Counter()) == self._entries(Counter()),
                f"path: {self.path} now holds another account, {entries.account} of epsilon {entries.epsilon:g}",
            )
            self._costs = entries.costs
        costs = self._costs.copy()
        costs[float(epsilon), float(delta), None if rho is None else float(rho)] += 1
        return costs

    def _entries(self, costs: Costs) -> Entries:
        return Entries(type(self).__name__, float(self.epsilon), float(self.delta), costs, self.about)


# Privacy accounts by sequential and by advanced composition.


class Accountant(Account):
    """Sequential composition: epsilons add up, and so do deltas, also where queries depend on earlier answers.

    Parameters
    ----------
    epsilon : float
        The budget, positive.
    delta : float
        In [0, 1).
    path : str or Path, optional
        File of the account; it must not exist yet.

    Examples
    --------
    >>> from defenses.dp import Accountant
    >>> account = Accountant(epsilon=1.0)
    >>> account.spend(0.5)
    >>> account.spend(0.25)
    >>> account.spent
    (0.75, 0.0)
    >>> account.remaining
    0.25
    >>> account.spend(0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    defenses.base.queries.query.BudgetSpent: epsilon 0.5, delta 0 more would exceed the budget of epsilon 1, ...
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """Sum of the epsilons and of the deltas, without rounding errors."""
        epsilon = sum((Fraction(e) * number for (e, _, _), number in costs.items()), Fraction(0))
        delta = sum((Fraction(d) * number for (_, d, _), number in costs.items()), Fraction(0))
        return float(epsilon), float(delta)

    @property
    def remaining(self) -> float:
        """Epsilon not yet spent."""
        left = float(self.epsilon) - self.spent[0]
        return left if left > TOLERANCE * self.epsilon else 0.0


class AdvancedAccountant(Account):
    """Advanced composition, also where the costs themselves depend on earlier answers.

    Epsilon is the smaller of the sum of epsilons and sqrt(2 ln(1 / slack) E) + E / 2, where E is the sum of squared
    epsilons. The slack is fixed when the account opens: half of the budget's delta. The other half is for the deltas of
    answers.

    Notes
    -----
    The budget is a privacy filter: it holds for costs that an adversary chooses by the answers so far. Proof. An
    (epsilon, delta)-private answer discloses everything with probability delta at most, and otherwise its privacy loss
    is that of an epsilon-private answer (Kairouz, Oh and Viswanath 2015). Deltas never add up to more than the budget's
    delta less the slack, on any path. So full disclosure is at most as probable. Let E* solve
    sqrt(2 ln(1 / slack) E) + E / 2 = epsilon. By theorem 1 of Whitehouse et al., the total loss exceeds epsilon at some
    time with E <= E* with probability at most the slack. A path on which E exceeds E* has a sum of epsilons of at most
    epsilon, and the loss cannot exceed that sum. In all, the loss exceeds epsilon with probability at most delta.

    A slack that depended on the deltas already spent would depend on the answers. It would not be a filter: an
    adversary could spend the slack on some paths and delta on the others.

    References
    ----------
    Whitehouse, Ramdas, Rogers and Wu (2023), Fully-adaptive composition in differential privacy, theorem 1.
    """

    @property
    def slack(self) -> float:
        """Part of the budget's delta that pays for the smaller epsilon."""
        return float(self.delta) / 2

    def total(self, costs: Costs) -> tuple[float, float]:
        """The smaller of both epsilons, with its delta."""
        plain = math.fsum(e * number for (e, _, _), number in costs.items())
        delta = math.fsum(d * number for (_, d, _), number in costs.items())
        squares = math.fsum(e * e * number for (e, _, _), number in costs.items())
        if self.slack == 0:
            return plain, delta
        advanced = math.sqrt(2 * -math.log(self.slack) * squares) + squares / 2
        return (plain, delta) if plain <= advanced else (advanced, delta + self.slack)

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer, by bisection of the total."""
        return self._one_more(float(self.epsilon), 60)

    def _exceeds(self, costs: Costs) -> bool:
        deltas = sum((Fraction(d) * number for (_, d, _), number in costs.items()), Fraction(0))
        left = Fraction(self.delta) - Fraction(self.slack)
        return super()._exceeds(costs) or deltas > left * (1 + Fraction(TOLERANCE))


class DeltaAccount(Account):
    """Account whose budget must have a delta."""

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float = 1e-6,
        path: str | Path | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        check_delta(delta)
        super().__init__(epsilon=epsilon, delta=delta, path=path, about=about)


# Privacy account by zero-concentrated differential privacy.


class ConcentratedAccountant(DeltaAccount):
    """Zero-concentrated differential privacy: rhos add up, also where the costs depend on earlier answers.

    An answer without delta has a rho of at most epsilon^2 / 2. Where no answer has a delta, the account takes the sum
    of epsilons if it is smaller, as it is for a few large costs. In that case no privacy loss can exceed the budget.
    So the budget holds, whichever of the two rules ends a run. The budget must have a delta.

    References
    ----------
    Bun and Steinke (2016), Concentrated differential privacy, proposition 1.4 and lemma 1.7; for chosen costs:
    Feldman and Zrnic (2021), Individual privacy accounting via a Rényi filter, theorem 4.5.
    """

    @cached_property
    def rho(self) -> float:
        """Rho of the whole budget."""
        return zcdp_rho(float(self.epsilon), float(self.delta))

    @property
    def remaining_rho(self) -> float:
        """Rho not yet spent."""
        left = self.rho - self._spent_rho(self._costs)
        return left if left > TOLERANCE * self.rho else 0.0

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer without delta: sqrt(2 rho), or the budget less the sum of epsilons."""
        left = float(self.epsilon) - self._plain(self._costs)
        return max(math.sqrt(2 * self.remaining_rho), left if left > TOLERANCE * self.epsilon else 0.0)

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta."""
        rho = self._spent_rho(costs)
        if not rho:
            return 0.0, 0.0
        concentrated = zcdp_epsilon(rho, float(self.delta))
        plain = self._plain(costs)
        return (plain, 0.0) if plain <= concentrated else (concentrated, float(self.delta))

    def _exceeds(self, costs: Costs) -> bool:
        within = self._spent_rho(costs) <= self.rho * (1 + TOLERANCE)
        return not within and not self._plain(costs) <= self.epsilon * (1 + TOLERANCE)

    @staticmethod
    def _plain(costs: Costs) -> float:
        """Sum of epsilons, infinite where one comes with a delta."""
        if any(delta for _, delta, _ in costs):
            return math.inf
        return math.fsum(epsilon * number for (epsilon, _, _), number in costs.items())

    def _spent_rho(self, costs: Costs) -> float:
        def of(epsilon: float, delta: float, rho: float | None) -> float:
            if rho is not None:
                return rho
            refuse(delta, "rho must be given for an answer with a delta")
            return epsilon**2 / 2

        return float(sum((Fraction(of(*cost)) * number for cost, number in costs.items()), Fraction(0)))


# Privacy accounts by the library dp-accounting: Rényi differential privacy and privacy loss distributions.

LARGEST_LOSS = 700.0
"""Largest epsilon whose exponential is computed: e^700 is near the largest float."""


class RenyiAccountant(DeltaAccount):
    """Rényi differential privacy by the library dp-accounting, for costs fixed in advance.

    Queries may depend on earlier answers, but costs may not: the best Rényi order is chosen for all costs together.
    The total is the sum of epsilons where that is smaller, as it is for a few large costs.

    A cost with rho counts as Gaussian noise of that rho. A cost without rho counts as randomized response of its
    epsilon. It has the largest loss of all mechanisms with that guarantee (Kairouz, Oh and Viswanath 2015, theorem
    3.1). This is tighter than rho = epsilon^2/2. The budget must have a delta.

    References
    ----------
    Mironov (2017), Rényi differential privacy; dp-accounting (Google), rdp.RdpAccountant.
    """

    adaptive = False

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta, or the sums where their epsilon is smaller."""
        from dp_accounting import GaussianDpEvent, NeighboringRelation, RandomizedResponseDpEvent, rdp

        accountant = rdp.RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        for (epsilon, delta, rho), number in costs.items():
            refuse(rho is None and delta, "rho must be given for an answer with a delta")
            if rho:
                accountant.compose(GaussianDpEvent(1 / math.sqrt(2 * rho)), number)
            elif rho is None and epsilon:
                # Probability that the value is replaced by one of the two at random.
                replaced = 2 / (1 + math.exp(min(epsilon, LARGEST_LOSS)))
                accountant.compose(RandomizedResponseDpEvent(replaced, num_buckets=2), number)
        plain = math.fsum(epsilon * number for (epsilon, _, _), number in costs.items())
        delta = math.fsum(delta * number for (_, delta, _), number in costs.items())
        composed = float(accountant.get_epsilon(float(self.delta))) if costs else 0.0
        # Sums hold too, as long as the deltas alone do not exceed the budget's.
        return (plain, delta) if plain <= composed and delta <= self.delta else (composed, float(self.delta))

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer without delta, by bisection of the total."""
        return self._one_more(2 * float(self.epsilon) + 1, 40)


class LossDistributionAccountant(RenyiAccountant):
    """Privacy loss distributions by the library dp-accounting: the tightest account of pure costs fixed in advance.

    A cost counts as the mechanism that loses the most with its epsilon and delta (Kairouz, Oh and Viswanath 2015,
    theorem 3.1). No loss distribution follows from rho: discrete Gaussian noise has a larger delta than normal noise of
    its rho. Of costs with rho, the total by `RenyiAccountant` is therefore the smaller one in most cases; the smaller
    one counts. Costs must be fixed in advance for the same reason as there.

    References
    ----------
    Koskela, Jälkö and Honkela (2020), Computing tight differential privacy guarantees using FFT; dp-accounting
    (Google), privacy_loss_distribution.
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta, or the sums where their epsilon is smaller."""
        from dp_accounting.pld.common import DifferentialPrivacyParameters
        from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters

        by_orders = super().total(costs)
        if max((epsilon for epsilon, _, _ in costs), default=0.0) > LARGEST_LOSS:
            return by_orders
        losses = [
            from_privacy_parameters(DifferentialPrivacyParameters(epsilon, delta)).self_compose(number)
            for (epsilon, delta, _), number in costs.items()
            if epsilon or delta
        ]
        if not losses:
            return by_orders
        composed = reduce(lambda first, second: first.compose(second), losses)
        epsilon = float(composed.get_epsilon_for_delta(float(self.delta)))
        return (epsilon, float(self.delta)) if epsilon < by_orders[0] else by_orders
