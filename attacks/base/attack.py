"""The contract of attacks, and the knowledge of an attacker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Channel, Microdata, Parametrized
from metrics.classes import ranks_in_groups
from metrics.columns import Array, Booleans, Domain, Floats, Integers, refuse_any, require, scattered

Thing = TypeVar("Thing")

# Claims: ranked answers, values, predicates and membership decisions.


class Claims:
    """An attack's answer; a game scores the kinds that it takes.

    Attributes
    ----------
    words : str
        What this kind of claims is called in messages.

    Examples
    --------
    >>> from attacks import Claims, Decisions, ValueClaims
    >>> isinstance(Decisions([0.9, 0.2]), Claims), Decisions.words, ValueClaims.words
    (True, 'decisions', 'claimed values')
    """

    words: ClassVar[str]

    @classmethod
    def of(cls, claims: object) -> Self:
        """Check that claims are of this kind, and return them unchanged.

        Raises
        ------
        TypeError
            If they are of another kind.
        """
        if not isinstance(claims, cls):
            raise TypeError(f"expected {cls.words}, got {type(claims).__name__}")
        return claims


@dataclass(frozen=True)
class Decisions(Claims):
    """Membership scores: one per person, higher for those whom the attack predicts to be members.

    Parameters
    ----------
    scores : ndarray of float, shape (persons,)
        Any scale; -inf for a certain non-member. NaN is refused.

    Raises
    ------
    ValueError
        If a score is NaN.

    Examples
    --------
    The attack predicts that the second of three persons is a member:

    >>> import numpy as np
    >>> from attacks import Decisions
    >>> Decisions([0.2, 0.9, -np.inf]).first(1, np.random.default_rng(1)).tolist()
    [1]
    """

    words = "decisions"
    scores: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", np.asarray(self.scores, dtype=float))
        require(not np.isnan(self.scores).any(), "scores must not be NaN")

    def first(self, count: int, rng: Generator) -> Integers:
        """Positions of the `count` highest scores; ties are broken at random."""
        order = rng.permutation(self.scores.size)
        return order[np.argsort(-self.scores[order], kind="stable")][:count]


@dataclass(frozen=True)
class RankedAnswers(Claims):
    """Scored answers to each target, sparse; the attack abstains on a target without an answer.

    Parameters
    ----------
    targets, answers : int
        Number of targets (released rows) and of possible answers (candidates).
    target, answer : ndarray of int, shape (claims,)
        Pairs of positions, each at most once.
    score : ndarray of float, shape (claims,)
        Higher for more probable answers; comparable within a target.
    membership : Decisions, optional
        Membership score of each possible answer; by default the highest score of a claim that names it.
    confidence : ndarray of float, shape (claims,), optional
        The attack's estimate of the probability that the claim is right; None where it has none.

    Raises
    ------
    ValueError
        If the arrays differ in length, a position is out of range, a pair stands twice, a score is NaN or a confidence
        lies outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from attacks import RankedAnswers
    >>> rng = np.random.default_rng(0)
    >>> claims = RankedAnswers.from_scores([[0.1, 0.9, 0.0], [0.7, 0.2, 0.1]], rng)
    >>> claims.best(rng)
    array([1, 0])
    """

    words = "ranked answers"
    targets: int
    answers: int
    target: Integers
    answer: Integers
    score: Floats
    membership: Decisions | None = None
    confidence: Floats | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("target", np.intp), ("answer", np.intp), ("score", float)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=dtype))
        require(
            self.target.shape == self.answer.shape == self.score.shape and self.target.ndim == 1,
            "target, answer and score must be one-dimensional and of one length",
        )
        for name, positions, count in (
            ("target", self.target, self.targets),
            ("answer", self.answer, self.answers),
        ):
            require(
                not positions.size or (positions.min() >= 0 and positions.max() < count),
                f"{name} must lie in 0..{count - 1}",
            )
        require(not np.isnan(self.score).any(), "scores must not be NaN")
        require(
            np.unique(self.target * max(1, self.answers) + self.answer).size >= self.target.size,
            "a pair of target and answer stands twice",
        )
        require(
            self.membership is None or self.membership.scores.shape == (self.answers,),
            f"membership must hold {self.answers} scores, one a possible answer",
        )
        if self.confidence is not None:
            object.__setattr__(self, "confidence", np.asarray(self.confidence, dtype=float))
            require(self.confidence.shape == self.target.shape, "confidence must hold one probability a claim")
            require(((self.confidence >= 0) & (self.confidence <= 1)).all(), "confidence must lie in [0, 1]")

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        rng: Generator,
        *,
        depth: int = 10,
        membership: Decisions | None = None,
        confidence: ArrayLike | None = None,
    ) -> RankedAnswers:
        """Keep the `depth` best answers to each target from a full table of scores; ties are broken at random.

        Parameters
        ----------
        scores : array_like, shape (targets, answers)
            -inf for an answer that is ruled out.
        rng : Generator
            Breaks ties.
        depth : int
            Number of answers kept for each target.
        membership : Decisions, optional
            See the class.
        confidence : array_like, shape (targets, answers), optional
            Probability that each answer is right, in [0, 1].
        """
        table = np.asarray(scores, dtype=float)
        targets, answers = table.shape
        order = rng.permutation(answers)
        best = order[_first_columns(-table[:, order], depth)]
        target = np.repeat(np.arange(targets), best.shape[1])
        answer = best.ravel()
        possible = table[target, answer] > -np.inf
        if membership is None and targets:
            membership = Decisions(table.max(axis=0))
        target, answer = target[possible], answer[possible]
        probability = None if confidence is None else np.asarray(confidence, dtype=float)[target, answer]
        return cls(targets, answers, target, answer, table[target, answer], membership, probability)

    def ranking(self, rng: Generator) -> Integers:
        """Rank of each claim within its target, shape (claims,), 0 for the highest score; ties are broken at random."""
        order = np.lexsort((rng.random(self.score.size), -self.score, self.target))
        return scattered(ranks_in_groups(self.target[order]), order, order.size)

    def best(self, rng: Generator) -> Integers:
        """Answer of the highest score to each target, shape (targets,), -1 where the attack abstains."""
        first = self.ranking(rng) == 0
        return scattered(self.answer[first], self.target[first], self.targets)

    def members(self) -> Decisions:
        """Membership score of each possible answer."""
        if self.membership is not None:
            return self.membership
        scores = np.full(self.answers, -np.inf)
        np.maximum.at(scores, self.answer, self.score)
        return Decisions(scores)


@dataclass(frozen=True)
class ValueClaims(Claims):
    """Claimed values of persons: an attribute, or cells of a reconstructed record.

    Parameters
    ----------
    values : DataFrame, shape (claims, columns)
        One row per claim, missing where the attack abstains.
    confidence : ndarray of float, shape (claims,)
        Higher for more probable values.
    person : ndarray of int, shape (claims,), optional
        Person whom each claim is about; by default claim i is about person i.
    share : ndarray of float, shape (claims,), optional
        Probability that the attack gives this answer where it draws one of several, as in ties, in [0, 1]; 1 by
        default. Games count expected successes, so that ties need no random draw.

    Raises
    ------
    ValueError
        If the arrays differ in length, a confidence is NaN, a share lies outside [0, 1], or those of one person add
        up to more than 1.

    Examples
    --------
    Person 0 is claimed to have the flu. Two diseases tie for person 1:

    >>> import pandas as pd
    >>> from attacks import ValueClaims
    >>> diseases = pd.DataFrame({"disease": ["flu", "flu", "none"]})
    >>> claims = ValueClaims(diseases, confidence=[0.9, 0.5, 0.5], person=[0, 1, 1], share=[1, 0.5, 0.5])
    >>> claims.about.tolist(), claims.weight.tolist()
    ([0, 1, 1], [1.0, 0.5, 0.5])
    """

    words = "claimed values"
    values: pd.DataFrame
    confidence: Floats
    person: Integers | None = None
    share: Floats | None = None

    def __post_init__(self) -> None:
        count = len(self.values)
        object.__setattr__(self, "confidence", np.asarray(self.confidence, dtype=float))
        person, share = self.about, self.weight
        require(
            self.confidence.shape == person.shape == share.shape == (count,),
            "values, confidence, person and share must be of one length",
        )
        require(not np.isnan(self.confidence).any(), "confidence must not be NaN")
        require(
            ((share >= 0) & (share <= 1)).all() and not (person < 0).any(),
            "shares must lie in [0, 1] and persons be positions from 0",
        )
        require(
            not count or np.bincount(person, weights=share).max() <= 1 + 1e-9,
            "the shares of one person must not add up to more than 1",
        )

    @property
    def about(self) -> Integers:
        """Person whom each claim is about, shape (claims,)."""
        return np.arange(len(self.values)) if self.person is None else np.asarray(self.person, dtype=np.intp)

    @property
    def weight(self) -> Floats:
        """Probability that the attack gives each answer, shape (claims,)."""
        return np.ones(len(self.values)) if self.share is None else np.asarray(self.share, dtype=float)


@dataclass(frozen=True)
class Predicates(Claims):
    """Predicates, each claimed to hold for exactly one original.

    Parameters
    ----------
    predicates : sequence of callable
        Each maps a frame of original records, shape (n, columns), to booleans, shape (n,).

    Examples
    --------
    The predicate holds for exactly one of two records, and so singles it out:

    >>> import pandas as pd
    >>> from attacks import Predicates
    >>> claims = Predicates([lambda people: (people["age"] == 34).to_numpy()])
    >>> claims.predicates[0](pd.DataFrame({"age": [34, 52]})).tolist()
    [True, False]
    """

    words = "predicates"
    predicates: Sequence[Callable[[pd.DataFrame], Booleans]]


def _first_columns(table: Floats, depth: int) -> Integers:
    """Columns of the `depth` smallest entries of each row, ascending, equal ones by position; shape (rows, depth)."""
    if table.size and 0 < depth < table.shape[1]:
        # Sort no more than the entries up to the last one wanted, unless ties or NaN make these too many or too few.
        small = table <= np.partition(table, depth - 1, axis=1)[:, depth - 1 : depth]
        count = small.sum(axis=1)
        if count.min() >= depth and count.sum() <= 2 * depth * len(table):
            row, column = np.nonzero(small)
            order = np.lexsort((table[row, column], row))
            return np.asarray(column[order[(np.cumsum(count) - count)[:, None] + np.arange(depth)]])
    return np.argsort(table, axis=1, kind="stable")[:, :depth]


class NotApplicable(Exception):  # noqa: N818 (not an error: the pair of release and attack is skipped)
    """Raised by an attack that cannot be applied to a release; the message gives the reason."""


def applicable(holds: object, otherwise: str) -> None:
    """Raise `NotApplicable` with the reason `otherwise` unless the condition `holds`."""
    require(holds, otherwise, NotApplicable)


def given(thing: Thing | None, otherwise: str) -> Thing:
    """Return what an attack needs; raise `NotApplicable` with the reason `otherwise` if there is none."""
    if thing is None:
        raise NotApplicable(otherwise)
    return thing


def softmax(logs: Array) -> Array:
    """Probabilities from unnormalised log-probabilities, row by row."""
    weights: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def disclosed_channel(channel: Channel | None) -> Channel:
    """The channel of a release, or `NotApplicable` if the release discloses none."""
    return given(channel, "the release discloses no channel")


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
        from metrics.columns import infer_domain

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


Part = TypeVar("Part", bound=Attack)


def checked_parts(
    attacks: Sequence[Part] | None, fits: Callable[[object], bool], otherwise: str
) -> Sequence[Part] | None:
    """The attacks that another one is made of; None for its default ones.

    A ValueError is raised if they are no sequence, if there is none, or if one does not fit.
    """
    if attacks is None:
        return None
    several = isinstance(attacks, Sequence) and not isinstance(attacks, str) and attacks
    require(several, "attacks must name at least one attack")
    refuse_any([attack for attack in attacks if not fits(attack)], lambda attack: f"{otherwise}, got {attack!r}")
    return attacks


def answers_of_parts(
    attacks: Sequence[Part], answer: Callable[[Part, Generator], Thing], rng: Generator
) -> list[Thing]:
    """Answers of several attacks, each by draws of its own; attacks that do not fit the release are left out.

    If none fits, `NotApplicable` is raised with all their reasons.
    """
    answers, reasons = [], []
    for attack, own in zip(attacks, rng.spawn(len(attacks)), strict=True):
        try:
            answers.append(answer(attack, own))
        except NotApplicable as reason:
            reasons.append(str(reason))
    applicable(answers, "; ".join(reasons))
    return answers
