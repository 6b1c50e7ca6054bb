"""The contract of an attack, and what an attacker is handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd
from numpy.random import Generator

from attacks.base.claims import Claims
from defenses.base.microdata import Microdata
from defenses.base.parameters import Parametrized
from metrics.domains import Domain


class NotApplicable(Exception):  # noqa: N818 (no error: the pair of release and attack is skipped)
    """Raised by an attack that cannot work on this release; the message says why."""


@dataclass(frozen=True)
class Knowledge:
    """All that an attacker is handed beside the release.

    Parameters
    ----------
    candidates : DataFrame, shape (candidates, columns)
        People in clear, among whom the attacker looks.
    auxiliary : Microdata
        Other people of the same population, disjoint from the originals and from the candidates, with the public
        roles, domains and hierarchies of the columns.
    simulate : callable, optional
        ``simulate(records, rng)`` repeats defense and publication on records of the attacker's own; None where the
        attacker does not know the mechanism.
    """

    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata
    simulate: Callable[[Microdata, Generator], Any] | None = field(default=None, repr=False)

    def domains(self, columns: list[str]) -> Mapping[str, Domain]:
        """Domains of the given columns: the public ones, or what the attacker's own people show."""
        from metrics.domains import infer_domain

        declared = self.auxiliary.domains
        people = (self.candidates, self.auxiliary.frame)
        return {
            name: declared[name]
            if name in declared
            else infer_domain(pd.concat([frame[name] for frame in people if name in frame], ignore_index=True))
            for name in columns
        }


class Attack(Parametrized, ABC):
    """A way to learn about people from a release.

    Attributes
    ----------
    kind : str
        The kind of published release that it works on.
    goal : str
        What its claims are about; games score claims of their own goal.
    """

    kind: ClassVar[str] = "microdata"
    goal: ClassVar[str] = "reidentification"

    def choose(self, knowledge: Knowledge, rng: Generator) -> Any:
        """Choose what the game lets the adversary choose before the release (a table, neighbours); nothing here."""
        return None

    @abstractmethod
    def run(self, release: Any, knowledge: Knowledge, rng: Generator) -> Claims:
        """Attack a release.

        Parameters
        ----------
        release : Release or session
            What the release shows one attack (`defenses.base.release.Release.view`).
        knowledge : Knowledge
            What else the attacker has.
        rng : Generator
            For choices of the attack, ties among them.

        Raises
        ------
        NotApplicable
            If the attack needs what this release does not have; the trial is skipped.
        ValueError
            If release and knowledge do not fit together.
        """
