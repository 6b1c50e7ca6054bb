"""What every finished release of one table is evaluated with: the records, control people, targets and utility."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics import Estimate, Score, advantage, risk_after_control, wilson
from metrics.columns import Domain, Integers, require
from metrics.table_utility import TableUtility, prediction_target
from scenarios.tables import Dataset, FinishedTable, Roles, generator, read_finished, with_all_columns
from scenarios.tables.review.rows_of_people import number_of_people, person_numbers

# Outcome of one attack on a finished release, and its advantage with an interval over persons.

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class MeasuredAttack:
    """Outcome of one attack on a finished release.

    - attack: Class name of the attack.
    - goal: Its goal (see `leaderboard.results.goals`).
    - knows: What the attacker knows of its targets: ``everything``, ``quasi-identifiers``, ``nothing`` or ``two
      halves``.
    - column: The column whose values are inferred; empty for other goals.
    - score: Success and chance level; None if the attack was skipped.
    - reason: Why the attack was skipped; empty if it was not.
    - nothing_told: Whether all people look alike in the release, so that no attack can be better than guessing.
    """

    attack: str
    goal: str
    knows: str
    column: str = ""
    score: Score | None = None
    reason: str = ""
    nothing_told: bool = False

    @property
    def title(self) -> str:
        """The attack with the column whose values it infers."""
        return f"{self.attack} ({self.column})" if self.column else self.attack

    def advantage(self, confidence: float = CONFIDENCE) -> Estimate | None:
        """Advantage over guessing with its interval over persons; None if it was not measured.

        The people are those of one table, and the release is taken as given: the interval is about other people of the
        same table. If the chance level is that of a control group, its error is in the interval.
        """
        score = self.score
        if score is None or score.advantage is None or score.rate is None or score.chance is None:
            return None
        if self.nothing_told:
            return Estimate(0.0, 0.0, 0.0, score.trials)
        if score.control_trials is not None:
            trials, controls = score.trials, score.control_trials
            return risk_after_control(
                min(trials, score.rate * trials), trials, min(controls, score.chance * controls), controls, confidence
            )
        rate = wilson(min(score.trials, score.rate * score.trials), score.trials, confidence)
        low, high = (advantage(end, score.chance) for end in (rate.low, rate.high))
        return Estimate(score.advantage, low, high, score.trials)


def joint_confidence(count: int) -> float:
    """Confidence level of each of several intervals that hold together with 95 % (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(1, count)


def upper_confidence(number: int = 1) -> float:
    """Confidence level of an interval whose upper end decides about the release of a number, from 1.

    The upper end of release n is too low with probability 0.05 / (n (n + 1)). Over any number of releases, judged one
    after the other, these sum to 0.05 at most. The first interval is an ordinary one of 95 %.
    """
    return 1 - 2 * (1 - CONFIDENCE) / (number * (number + 1))


Value = TypeVar("Value")
PAIRS = 30_000_000
"""Largest number of pairs of a row and a person that an attack compares."""
FEWEST = 100
"""Number of people down to which they are reduced for large tables."""
TARGETS = 500
"""Number of people in the table whom attacks are about, by default."""
AUXILIARY = 1000
"""Largest number of the attacker's people."""
MOST_BINS = 10_000
"""Largest number of categories and bins of all columns: utility counts the records in each pair of them (800 MB)."""


@dataclass(frozen=True)
class EvaluationSetting:
    """The original table, people who were not in it, and the targets of attacks.

    - roles: The roles file of the original table, which also says how files are read.
    - control: People of the same population who were not in the table, with the roles of the originals.
    - control_sha256: Checksum of their file; empty without control.
    - seed: Seed of all random draws.
    - targets: Number of people in the table whom attacks are about, at least 1.

    A ValueError is raised if the table has no column to compare, or so many categories that its bins do not fit into
    memory.
    """

    dataset: Dataset = field(repr=False)
    roles: Roles = field(default_factory=Roles, repr=False)
    control: Microdata | None = field(default=None, repr=False)
    control_sha256: str = ""
    seed: int = 1
    targets: int = TARGETS
    _cache: dict[str, tuple[Hashable, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(self.columns, "the original table has no column besides identifiers")
        bins = {name: self.domains[name].size + 1 for name in self.columns}
        if sum(bins.values()) > MOST_BINS:
            name = max(bins, key=bins.__getitem__)
            raise ValueError(
                f"the original table has {sum(bins.values())} categories and bins, and at most {MOST_BINS} can be "
                f"compared: column {name!r} has {bins[name] - 1}; declare it as an identifier, or its public categories"
            )

    @cached_property
    def records(self) -> Microdata:
        """The original records; columns without a role count among those that a release may hold."""
        return with_all_columns(self.dataset)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns with a role, in which utility is measured."""
        return self.dataset.records.released_columns

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """Domains of all columns except identifiers; inferred ones hold the control people's categories, too."""
        domains = {name: self.records.domain(name) for name in self.records.released_columns}
        if self.control is not None:
            domains |= {name: self.control.domains[name] for name in domains if name in self.control.domains}
        return domains

    def read(self, name: str, data: bytes) -> FinishedTable:
        """Read a release of the table; see `read_finished`."""
        return read_finished(name, data, self.dataset, self.roles, self.domains)

    def utility(self, domains: Mapping[str, Domain]) -> TableUtility:
        """Utility measure of releases in the columns with a role, as `tokumei utility` builds it.

        Columns without a domain here are left out. It is signed, so that releases worse than one without information
        stay ordered.
        """
        domains = {name: domains[name] for name in self.columns if name in domains}
        held_out = self.records.frame.iloc[:0] if self.control is None else self.control.frame
        target = prediction_target(self.records.sensitive, domains)
        key = tuple((name, str(domain)) for name, domain in domains.items())
        return self.kept(
            f"utility of {len(domains)} columns",
            key,
            lambda: TableUtility(
                self.records.frame, domains, held_out, target, np.random.default_rng(self.seed), signed=True
            ),
        )

    def prepare(self) -> None:
        """Compute what all releases of complete domains need, before processes share it."""
        utility = self.utility(self.domains)
        _ = utility.floor, utility.original_auc

    def kept(self, name: str, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return what was computed last under this name if the key is the same, else compute it."""
        if self._cache.get(name, (None,))[0] != key:
            self._cache[name] = key, compute()
        value: Value = self._cache[name][1]
        return value

    @cached_property
    def people(self) -> Integers:
        """Number of the person of each record, shape (records,)."""
        return person_numbers(self.records)

    @cached_property
    def size(self) -> int:
        """Number of people in the table, who may have several records each."""
        return number_of_people(self.records)

    @property
    def repeats(self) -> bool:
        """Whether some person has several records."""
        return self.size < len(self.records)

    @cached_property
    def control_size(self) -> int:
        """Number of control people; 0 without control."""
        return 0 if self.control is None else number_of_people(self.control)

    @cached_property
    def _targets(self) -> tuple[Integers, Integers]:
        """The records in a random order of people, and where each person's begin."""
        return _by_people(self.people, generator(self.seed, "rank", "targets"))

    @cached_property
    def _strangers(self) -> tuple[Integers, Integers]:
        """The control people's records in a random order of people, and where each person's begin."""
        numbers = np.zeros(0, dtype=np.intp) if self.control is None else person_numbers(self.control)
        return _by_people(numbers, generator(self.seed, "rank", "control"))

    def members(self, count: int) -> Microdata:
        """Records of the first people in random order, who are targets; all records of a person stand together."""
        order, starts = self._targets
        return self._public(self.records.take(order[: starts[count]]))

    def rest(self, count: int) -> Microdata:
        """Records of everybody but the first people."""
        order, starts = self._targets
        return self._public(self.records.take(order[starts[count] :]))

    def strangers(self, count: int) -> Microdata:
        """Records of the first control people."""
        order, starts = self._strangers
        return self._controls(order[: starts[count]])

    def others(self, count: int) -> Microdata:
        """Records of the first control people, at most half of all, who are non-members or strangers."""
        return self.strangers(self.asked(count))

    def asked(self, count: int) -> int:
        """Number of control people about whom attacks are asked, at most `count`."""
        return min(count, most_asked(self.control_size))

    def auxiliary(self, count: int, most: int = AUXILIARY) -> Microdata:
        """The attacker's people: at most `most` records of the control people after the first `count`."""
        order, starts = self._strangers
        first = starts[self.asked(count)]
        return self._controls(order[first : first + most])

    def _controls(self, positions: Integers) -> Microdata:
        return self._public(self.records.take([]) if self.control is None else self.control.take(positions))

    def _public(self, people: Microdata) -> Microdata:
        return replace(people, domains={**people.domains, **self.domains})


def _by_people(numbers: Integers, rng: Generator) -> tuple[Integers, Integers]:
    """Records in a random order of their people, and where each person's begin, with the end; people are numbered."""
    drawn = rng.permutation(int(numbers.max(initial=-1)) + 1)
    place = np.argsort(drawn)[numbers]
    starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=drawn.size))])
    return np.argsort(place, kind="stable"), starts


def most_asked(control: int) -> int:
    """Largest number of so many control people about whom attacks are asked; the others are the attacker's own."""
    return (control + 1) // 2


def most_targets(targets: int, records: int, rows: int) -> int:
    """Number of people about whom attacks are asked: at most `targets`, all records, and what released rows allow."""
    return min(targets, records, affordable(2 * targets, rows) // 2)


def affordable(people: int, rows: int) -> int:
    """Number of people who are compared with all rows, fewer than wanted for many rows."""
    return min(people, max(FEWEST, PAIRS // rows))
