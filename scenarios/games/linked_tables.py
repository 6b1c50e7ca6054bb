"""Games that link tables: two releases of overlapping tables, and a table to a register of named people."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Knowledge, RankedAnswers
from attacks.attributes.majority_in_class import OtherRelease
from defenses import Defense, Microdata, MicrodataRelease
from metrics import Scores, TableUtility
from metrics.columns import Integers, check_integer, check_real, refuse, require
from scenarios.games.control_group import AttributeInference
from scenarios.games.game import Secret
from scenarios.games.people import People
from scenarios.games.questions.person_questions import row_scores
from scenarios.games.table_game import TableGame


@dataclass(frozen=True)
class IntersectionSecret(People):
    """The people of one play, and the second publisher's table.

    - second: Records of the second publisher. The people in both tables come first, in the same order as in `records`.
    """

    second: Microdata = field(repr=False)


class Intersection(AttributeInference):
    """Attribute inference about people in two tables that are released independently with the same defense.

    Both tables have the same size and share `overlap` people, who are the targets (the two hospitals of Ganta et al.).
    The control group is in neither table. Attacks on a single release can play too: the difference between the two
    kinds of attack is what composition adds.

    Parameters
    ----------
    records, sensitive, strangers, auxiliary, attacker_knows
        See `AttributeInference`.
    originals : int
        Number of records in each table.
    overlap : int
        Number of people in both tables, from 1 to `originals`.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

    draws_people = False

    def __init__(
        self,
        *,
        records: Microdata,
        sensitive: str | None = None,
        originals: int = 500,
        overlap: int = 250,
        strangers: int = 250,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            sensitive=sensitive,
            originals=originals,
            strangers=strangers,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )
        self.overlap = check_integer("overlap", overlap, low=1)
        refuse(overlap > originals, f"overlap must not exceed originals, got {overlap} and {originals}")
        refuse(
            len(records) < 2 * originals - overlap + strangers,
            f"originals: {2 * originals - overlap + strangers} records are needed, but the table has {len(records)}",
        )

    @property
    def others(self) -> int:
        """Number of people in the auxiliary population, and of those who are only in the second table."""
        return self.auxiliary + self.originals - self.overlap

    def draw(self, rng: Generator, choice: Any = None) -> IntersectionSecret:
        """Draw two overlapping tables, strangers and the auxiliary population, otherwise disjoint."""
        drawn = super().draw(rng)
        exclusive = self.originals - self.overlap
        shared = drawn.records.take(np.arange(self.overlap))
        only_second = drawn.auxiliary.take(np.arange(exclusive))
        second = shared.with_frame(pd.concat([shared.frame, only_second.frame], ignore_index=True))
        auxiliary = drawn.auxiliary.take(np.arange(exclusive, len(drawn.auxiliary)))
        order = drawn.order[(drawn.order < self.overlap) | (drawn.order >= self.originals)]
        return IntersectionSecret(**{**vars(drawn), "auxiliary": auxiliary, "order": order}, second=second)

    def knowledge(self, secret: People, defense: Defense) -> Knowledge:
        """Give the second release and the knowledge of `AttributeInference`; every attack sees the same release."""
        knowledge = super().knowledge(secret, defense)
        if not isinstance(secret, IntersectionSecret):
            raise TypeError(f"the secret must be an IntersectionSecret, got {type(secret).__name__}")
        defense_rng, publish_rng, view_rng = deepcopy(secret.rng).spawn(3)
        other = self.publish(defense.clone().apply(secret.second, defense_rng), publish_rng)
        view = self.view(other, view_rng)
        return OtherRelease(knowledge.candidates, knowledge.auxiliary, knowledge.simulate, view)


@dataclass(frozen=True)
class JoinSecret(Secret):
    """Patients and register of one play; the candidates are the lines of the register.

    - candidates, shape (lines, columns): The register in clear.
    - auxiliary: The auxiliary population, with the public domains of all columns.
    - utility: Measures the utility of releases of the patients.
    - positions, shape (patients,): Position of each patient in the register, -1 for a patient who is not listed.
    """

    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    utility: TableUtility = field(repr=False)
    positions: Integers = field(repr=False)


class Join(TableGame):
    """Sweeney's join of a de-identified medical table with a named register, both made from the same records.

    Each play draws some records as patients. The defense releases their quasi-identifiers and sensitive columns. The
    register holds identifiers and quasi-identifiers, in random order: of most of the patients and of many other people.
    Some of its entries are missing, and some are outdated (replaced by another person's value). The adversary links
    each released row to a line of the register.

    Parameters
    ----------
    records : Microdata
        The population; with quasi-identifiers.
    patients, register : int
        Number of people in the released table, and number of lines in the register.
    listed : float
        Share of the patients who are in the register, in [0, 1].
    missing, outdated : float
        Share of missing and of outdated entries among the register's quasi-identifiers, in [0, 1]; together at most 1.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer: half of the remaining people each.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range, the table has no quasi-identifier, or the population is too small.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, section 2.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"reidentification": RankedAnswers}

    def __init__(
        self,
        *,
        records: Microdata,
        patients: int = 200,
        register: int = 2000,
        listed: float = 0.9,
        missing: float = 0.02,
        outdated: float = 0.02,
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.auxiliary = check_integer("auxiliary", auxiliary, low=0)
        self.held_out = check_integer("held_out", held_out, low=0)
        self.patients = check_integer("patients", patients, low=1)
        self.register = check_integer("register", register, low=2)
        self.listed = check_real("listed", listed, low=0, high=1)
        self.missing = check_real("missing", missing, low=0, high=1)
        self.outdated = check_real("outdated", outdated, low=0, high=1)
        refuse(missing + outdated > 1, f"missing and outdated must add up to at most 1, got {missing + outdated:g}")
        require(records.quasi_identifiers, "records: the table has no quasi-identifier to join by")
        refuse(
            self._on_register > register,
            f"register: {register} lines are too few for the {self._on_register} listed patients",
        )
        refuse(
            len(records) < self._people,
            f"register: {self._people} people are needed, but the table has {len(records)} rows",
        )

    @property
    def _on_register(self) -> int:
        return round(self.listed * self.patients)

    @property
    def _people(self) -> int:
        """Number of distinct people in a play."""
        return self.patients + self.register - self._on_register

    def draw(self, rng: Generator, choice: Any = None) -> JoinSecret:
        """Draw patients, the register, auxiliary and held-out people."""
        people_rng, register_rng, query_rng = rng.spawn(3)
        population = people_rng.permutation(len(self.records))
        patients, strangers, rest = np.split(population, [self.patients, self._people])
        held_out, others = np.split(rest, [min(self.held_out, rest.size // 2)])
        # Patients are in random order, so the first of them are a random sample.
        listed = np.concatenate([patients[: self._on_register], strangers])
        order = register_rng.permutation(self.register)
        positions = np.full(self.patients, -1)
        positions[: self._on_register] = np.argsort(order)[: self._on_register]
        records = self.records.take(patients)
        return JoinSecret(
            records,
            self._entries(listed[order], register_rng),
            self.public(self.records.take(others[: self.auxiliary])),
            self.table_utility(records, self.records.take(held_out), query_rng),
            positions,
        )

    def _entries(self, people: Integers, rng: Generator) -> pd.DataFrame:
        """Identifiers and quasi-identifiers of these people in the register, with its errors."""
        columns = [*self.records.identifiers, *self.records.quasi_identifiers]
        entries = self.records.frame[columns].iloc[people].reset_index(drop=True)
        for name in self.records.quasi_identifiers:
            uniform = rng.random(len(entries))
            outdated = np.flatnonzero(uniform < self.outdated)
            missing = np.flatnonzero((uniform >= self.outdated) & (uniform < self.outdated + self.missing))
            column = entries[name].to_numpy(copy=True)
            column[outdated] = self.records.frame[name].to_numpy()[rng.integers(len(self.records), size=outdated.size)]
            entries[name] = pd.Series(column).mask(np.isin(np.arange(column.size), missing)) if missing.size else column
        return entries

    def knowledge(self, secret: JoinSecret, defense: Defense) -> Knowledge:
        """Give the register, the auxiliary population, and the mechanism if the game discloses it."""
        return Knowledge(secret.candidates.copy(), secret.auxiliary, self.simulation(defense))

    def score(self, secret: JoinSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the links of rows to lines of the register; see `row_scores`."""
        return row_scores(self.taken(claims), published.origin, secret.positions, self.register, rng)
