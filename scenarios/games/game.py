"""The contract of a game: what the adversary knows, and how its claims are scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.random import Generator

from attacks import Attack, Claims, Knowledge
from defenses import Defense, Microdata, Release
from defenses.base import Parametrized
from metrics.score import Scores
from scenarios.tables.review.rows_of_people import drawn_rows

# The mechanism as the adversary knows it.


@dataclass(frozen=True)
class Publisher:
    """Repeats a defense and its publication on other records; equal ones are the same mechanism.

    - publish: ``publish(release, rng)`` of the game.
    """

    defense: Defense
    publish: Callable[[Release, Generator], Any]

    def __call__(self, records: Microdata, rng: Generator) -> Any:
        """Release records of the adversary."""
        return self.publish(self.defense.clone().apply(records, rng), rng)


KNOWS = ("mechanism", "nothing")


@dataclass(frozen=True)
class Secret:
    """What a game draws at random and hides from the adversary: the publisher's records, the input of the defense."""

    records: Microdata = field(repr=False)


class Game(Parametrized, ABC):
    """A game between a publisher and an adversary.

    Attributes
    ----------
    accepts : str
        The kind of release that the defense must make.
    kind : str
        The kind of release that is published, and that attacks must work on. It differs from `accepts` where the game
        computes something from the release, such as a model trained on it.
    takes : mapping of str to type of Claims
        The claims that the game scores, by the goal of the attack that makes them.
    variants : tuple of str
        Parameters of which a scenario may give a list: each value makes a variant of the game.
    shares_people : bool
        Whether the variants are questions about the same people, each with claims of its own goals. They then stand on
        one board.
    draws_people : bool
        Whether it draws people with all their rows and counts them, where a person has several; else it counts rows.
    lets_choose : bool
        Whether the adversary makes a choice before the release. Such a release is used in one trial only.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Examples
    --------
    A play by hand, in the candidate-file game:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import NearestNeighbour
    >>> from defenses import Identity, Microdata
    >>> from scenarios import CandidateFile
    >>> rng = np.random.default_rng(1)
    >>> records = Microdata(pd.DataFrame({"age": range(18, 78)}), quasi_identifiers=("age",))
    >>> game = CandidateFile(records=records, originals=10, candidates=20)
    >>> secret = game.draw(rng)
    >>> published = game.publish(Identity().apply(secret.records, rng), rng)
    >>> claims = NearestNeighbour().run(published.view(rng), game.knowledge(secret, Identity()), rng)
    >>> game.score(secret, published, claims, rng)["reidentification"].rate
    1.0
    """

    accepts: ClassVar[str] = "microdata"
    kind: ClassVar[str] = "microdata"
    takes: ClassVar[Mapping[str, type[Claims]]]
    variants: ClassVar[tuple[str, ...]] = ()
    shares_people: ClassVar[bool] = False
    draws_people: ClassVar[bool] = False
    lets_choose: ClassVar[bool] = False
    attacker_knows: str

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """Return what the adversary knows when it makes its choice, in a game with `lets_choose`."""
        raise NotImplementedError(f"{type(self).__name__} gives the adversary no choice")

    @abstractmethod
    def draw(self, rng: Generator, choice: Any = None) -> Secret:
        """Draw a secret; `choice` is the adversary's choice in a game with `lets_choose`."""

    def publish(self, release: Release, rng: Generator) -> Release:
        """Turn the defense's release into the published one; by default it is published unchanged."""
        return release

    def simulation(self, defense: Defense) -> Publisher | None:
        """Function that repeats defense and publication on other records; None if the mechanism is not disclosed."""
        return Publisher(defense, self.publish) if self.attacker_knows == "mechanism" else None

    @abstractmethod
    def knowledge(self, secret: Any, defense: Defense) -> Knowledge:
        """Return what attacks know besides the release."""

    @abstractmethod
    def score(self, secret: Any, published: Any, claims: Claims, rng: Generator) -> Scores:
        """Score an attack's claims.

        Raises
        ------
        TypeError
            If the game does not take this kind of claims.
        ValueError
            If the claims do not match the game's rows, persons or values.
        """

    def taken(self, claims: Claims) -> Any:
        """Check that the game scores claims of this kind, and return them unchanged.

        Raises
        ------
        TypeError
            If it does not; the message names the kinds that it scores.
        """
        kinds = tuple(self.takes.values())
        if not isinstance(claims, kinds):
            words = " or ".join(dict.fromkeys(kind.words for kind in kinds))
            raise TypeError(f"{type(self).__name__} scores {words}, got {type(claims).__name__}")
        return claims

    @abstractmethod
    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Measure the release's utility, and parameters of privacy such as k that can be read from it."""

    def misfit(self, defense: Defense, attack: Attack) -> str | None:
        """Reason why the defense and the attack cannot play this game, or None if they can."""
        reason = self.rows_of_people()
        if reason:
            return reason
        if defense.kind != self.accepts:
            return (
                f"{type(self).__name__} needs a {self.accepts} release, {type(defense).__name__} makes {defense.kind}"
            )
        if attack.kind != self.kind:
            return f"{type(self).__name__} publishes {self.kind}, {type(attack).__name__} works on {attack.kind}"
        if attack.goal not in self.takes:
            goals = " and ".join(self.takes)
            return f"{type(self).__name__} is about {goals}, {type(attack).__name__} about {attack.goal}"
        return None

    def rows_of_people(self) -> str | None:
        """Reason why the game cannot count people, or None: it draws rows, of which people have several."""
        records = getattr(self, "records", None)
        return None if self.draws_people or records is None else drawn_rows(records, type(self).__name__)

    def view(self, published: Release, rng: Generator) -> Any:
        """Return one attack's view of the published release, without its origin and perhaps without its channel."""
        disclosed = published if self.attacker_knows == "mechanism" else published.without_channel()
        return disclosed.view(rng)

    def settings(self) -> Mapping[str, Any]:
        """Return the game's parameters except for its records."""
        return {name: value for name, value in self.get_params().items() if not isinstance(value, Microdata)}
