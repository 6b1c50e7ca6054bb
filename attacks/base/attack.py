"""The contract of attacks, and the knowledge of an attacker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd
from numpy.random import Generator

from attacks.base.claims import Claims
from defenses.base.channel import Channel
from defenses.base.microdata import Microdata
from defenses.base.parametrized import Parametrized
from metrics.columns.domains import Domain
from metrics.columns.parameters import require


class NotApplicable(Exception):  # noqa: N818 (not an error: the pair of release and attack is skipped)
    """Raised by an attack that cannot be applied to a release; the message gives the reason."""


def applicable(holds: object, otherwise: str) -> None:
    """Raise `NotApplicable` with the reason `otherwise` unless the condition `holds`."""
    require(holds, otherwise, NotApplicable)


def disclosed_channel(channel: Channel | None) -> Channel:
    """Return the channel of a release.

    Raises
    ------
    NotApplicable
        If the release discloses none.
    """
    if channel is None:
        raise NotApplicable("the release discloses no channel")
    return channel


@dataclass(frozen=True)
class Knowledge:
    """Knowledge of an attacker beside the release.

    Parameters
    ----------
    candidates : DataFrame, shape (candidates, columns)
        Original values of the people whom the attack is about.
    auxiliary : Microdata
        Other people of the same population, disjoint from the originals and from the candidates, with the public
        roles, domains and hierarchies of the columns.
    simulate : callable, optional
        ``simulate(records, rng)`` repeats defense and publication on records of the attacker; None if the attacker
        does not know the mechanism.

    Examples
    --------
    The age has a public domain. That of the job is inferred from the attacker's people:

    >>> import pandas as pd
    >>> from defenses import Microdata
    >>> from metrics import NumericDomain
    >>> candidates = pd.DataFrame({"age": [21, 35], "job": ["nurse", "judge"]})
    >>> others = pd.DataFrame({"age": [60], "job": ["cook"]})
    >>> auxiliary = Microdata(others, domains={"age": NumericDomain(0, 100, integer=True)})
    >>> domains = Knowledge(candidates, auxiliary).domains(["age", "job"])
    >>> domains["age"].low, domains["age"].high
    (0, 100)
    >>> domains["job"].categories
    ('cook', 'judge', 'nurse')
    """

    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata
    simulate: Callable[[Microdata, Generator], Any] | None = field(default=None, repr=False)

    def domains(self, columns: list[str]) -> Mapping[str, Domain]:
        """Domains of the given columns: the public one, or else one inferred from candidates and auxiliary people."""
        from metrics.columns.domains import infer_domain

        declared = self.auxiliary.domains
        people = (self.candidates, self.auxiliary.frame)
        return {
            name: declared[name]
            if name in declared
            else infer_domain(pd.concat([frame[name] for frame in people if name in frame], ignore_index=True))
            for name in columns
        }


class Attack(Parametrized, ABC):
    """Base class of attacks, which make claims about people from a release.

    Attributes
    ----------
    kind : str
        The kind of release that it attacks.
    goal : str
        The subject of its claims; a game scores claims of its own goal.

    Examples
    --------
    An attack that predicts membership where a candidate's age was released:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Attack, Decisions, Knowledge
    >>> from defenses import Microdata, MicrodataRelease
    >>> class SameAge(Attack):
    ...     goal = "membership"
    ...     def run(self, release, knowledge, rng):
    ...         return Decisions(knowledge.candidates["age"].isin(release.frame["age"]))
    >>> release = MicrodataRelease(pd.DataFrame({"age": [21]}), origin=[0])
    >>> knowledge = Knowledge(pd.DataFrame({"age": [21, 35]}), Microdata(pd.DataFrame({"age": [60]})))
    >>> SameAge().run(release, knowledge, np.random.default_rng(1)).scores.tolist()
    [1.0, 0.0]
    """

    kind: ClassVar[str] = "microdata"
    goal: ClassVar[str] = "reidentification"

    def choose(self, knowledge: Knowledge, rng: Generator) -> Any:
        """Make the adversary's choice before the release, such as a table or neighbouring inputs; None by default."""
        return None

    @abstractmethod
    def run(self, release: Any, knowledge: Knowledge, rng: Generator) -> Claims:
        """Attack a release.

        Parameters
        ----------
        release : Release or session
            A view of the release for one attack (`defenses.base.release.Release.view`).
        knowledge : Knowledge
            The attacker's knowledge.
        rng : Generator
            For random choices of the attack, including ties.

        Raises
        ------
        NotApplicable
            If the release lacks something that the attack needs; the trial is skipped.
        ValueError
            If release and knowledge are inconsistent.
        """
