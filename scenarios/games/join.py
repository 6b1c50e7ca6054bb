"""The game of joins: name the people of a de-identified table by a register that shares columns with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import Claims, RankedAnswers
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from defenses.base.release import MicrodataRelease
from metrics.score import Scores
from scenarios.games.row_answers import row_scores
from scenarios.games.table_game import CandidatesGame, TableSecret


@dataclass(frozen=True)
class JoinSecret(TableSecret):
    """Who was drawn; the candidates are the register.

    Attributes
    ----------
    place : ndarray of int, shape (patients,)
        Where each patient stands in the register, -1 for those who do not.
    """

    place: NDArray[np.intp] = field(repr=False)


class Join(CandidatesGame):
    """A de-identified medical table and a named register, made of the same records by splitting their columns.

    Per play some records are drawn as patients, whose quasi-identifiers and sensitive columns the defense releases.
    The register holds identifiers and quasi-identifiers of more people, shuffled: most of the patients and many others;
    some entries are missing, others outdated, which is to say somebody else's. The attacker names for each released
    row a line of the register.

    Parameters
    ----------
    records : Microdata
        The population; with quasi-identifiers.
    patients, register : int
        How many people are in the released table and in the register.
    listed : float
        Share of the patients who are in the register, in [0, 1].
    missing, outdated : float
        Shares of the register's quasi-identifying entries that are missing, and outdated, in [0, 1]; together at
        most 1.
    auxiliary, held_out : int
        How many further people the attacker has for studying, and how many test what classifiers learn from the
        release; fewer where the population runs out (a half of the rest each).
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.

    Raises
    ------
    ValueError
        If a number is out of range, there is no quasi-identifier or the population is too small.

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
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.patients = patients
        self.register = register
        self.listed = listed
        self.missing = missing
        self.outdated = outdated
        check_integer("patients", patients, low=1)
        check_integer("register", register, low=2)
        check_real("listed", listed, low=0, high=1)
        check_real("missing", missing, low=0, high=1)
        check_real("outdated", outdated, low=0, high=1)
        if missing + outdated > 1:
            raise ValueError(f"missing and outdated must add up to at most 1, got {missing + outdated:g}")
        if not records.quasi_identifiers:
            raise ValueError("records: there is no quasi-identifier to join by")
        if self._on_register > register:
            raise ValueError(f"register: {register} lines do not hold the {self._on_register} patients who are listed")
        if len(records) < self._people:
            raise ValueError(f"register: {self._people} people are needed and the table has {len(records)} rows")

    @property
    def _on_register(self) -> int:
        return round(self.listed * self.patients)

    @property
    def _people(self) -> int:
        """How many different people a play needs."""
        return self.patients + self.register - self._on_register

    def draw(self, rng: Generator, choice: Any = None) -> JoinSecret:
        """Draw patients, the register and bystanders."""
        people_rng, register_rng, query_rng = rng.spawn(3)
        population = people_rng.permutation(len(self.records))
        patients, strangers, rest = np.split(population, [self.patients, self._people])
        held_out, others = np.split(rest, [min(self.held_out, rest.size // 2)])
        # Patients are in random order already, so that the first of them are any.
        listed = np.concatenate([patients[: self._on_register], strangers])
        order = register_rng.permutation(self.register)
        place = np.full(self.patients, -1)
        place[: self._on_register] = np.argsort(order)[: self._on_register]
        records = self.records.take(patients)
        return JoinSecret(
            records,
            self._entries(listed[order], register_rng),
            self.records.take(others[: self.auxiliary]),
            self.table_utility(records, self.records.take(held_out), query_rng),
            place,
        )

    def _entries(self, people: NDArray[np.intp], rng: Generator) -> pd.DataFrame:
        """Identifiers and quasi-identifiers of these people as the register has them."""
        kept = [*self.records.identifiers, *self.records.quasi_identifiers]
        entries = self.records.frame[kept].iloc[people].reset_index(drop=True)
        for name in self.records.quasi_identifiers:
            chance = rng.random(len(entries))
            outdated = np.flatnonzero(chance < self.outdated)
            missing = np.flatnonzero((chance >= self.outdated) & (chance < self.outdated + self.missing))
            column = entries[name].to_numpy(copy=True)
            column[outdated] = self.records.frame[name].to_numpy()[rng.integers(len(self.records), size=outdated.size)]
            entries[name] = pd.Series(column).mask(np.isin(np.arange(column.size), missing)) if missing.size else column
        return entries

    def score(self, secret: JoinSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score row by row; see `row_scores`; the candidates are the lines of the register."""
        return row_scores(self.taken(claims), published.origin, secret.place, self.register, rng)
