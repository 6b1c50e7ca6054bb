"""The contract of a game: who knows what, and what counts as winning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Claims
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import Parametrized
from defenses.base.release import Release
from metrics.score import Scores

KNOWS = ("mechanism", "nothing")


class Secret(ABC):
    """What a game draws and an attacker is to find out.

    Attributes
    ----------
    records : Microdata
        What the publisher holds, and the defense is given.
    """

    records: Microdata


class Game(Parametrized, ABC):
    """A game between a publisher and an attacker.

    Attributes
    ----------
    accepts : str
        The kind of release that a defense must make to play.
    kind : str
        The kind of release that is published and attacks must work on; differs from `accepts` where the game itself
        computes something from the release (a model trained on it).
    takes : mapping of str to type of Claims
        The claims that the game scores, by the goal of the attack that makes them.
    variants : tuple of str
        Parameters of which a scenario may give a list: each value makes a variant of the game.
    lets_choose : bool
        Whether the adversary chooses something before the release, which then belongs to its trial alone.
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.
    """

    accepts: ClassVar[str] = "microdata"
    kind: ClassVar[str] = "microdata"
    takes: ClassVar[Mapping[str, type[Claims]]]
    variants: ClassVar[tuple[str, ...]] = ()
    lets_choose: ClassVar[bool] = False
    attacker_knows: str

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """What an adversary knows who chooses something before the release, in a game that lets it choose."""
        raise NotImplementedError(f"{type(self).__name__} lets the adversary choose nothing")

    @abstractmethod
    def draw(self, rng: Generator, choice: Any = None) -> Secret:
        """Draw a secret, from what the adversary chose where the game lets it choose."""

    def publish(self, release: Release, rng: Generator) -> Release:
        """Turn the defense's release into what is published; unchanged unless a game says otherwise."""
        return release

    @abstractmethod
    def knowledge(self, secret: Any, defense: Defense) -> Knowledge:
        """What attackers are handed beside the release."""

    @abstractmethod
    def score(self, secret: Any, published: Any, claims: Claims, rng: Generator) -> Scores:
        """Score an attack's claims.

        Raises
        ------
        TypeError
            If the game does not take this kind of claims.
        ValueError
            If the claims are about other rows, persons or values than the game's.
        """

    def taken(self, claims: Claims) -> Any:
        """Return the claims if the game takes their kind.

        Raises
        ------
        TypeError
            If it does not; names the kinds that it takes.
        """
        kinds = tuple(self.takes.values())
        if not isinstance(claims, kinds):
            words = " or ".join(dict.fromkeys(kind.words for kind in kinds))
            raise TypeError(f"{type(self).__name__} scores {words}, got {type(claims).__name__}")
        return claims

    @abstractmethod
    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Measure what the release is worth and what it holds of its promise."""

    def misfit(self, defense: Defense, attack: Attack) -> str | None:
        """Why a pair cannot play, or None if it can."""
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

    def view(self, published: Release, rng: Generator) -> Any:
        """What one attack is handed of what was published."""
        known = published if self.attacker_knows == "mechanism" else published.without_channel()
        return known.view(rng)

    def settings(self) -> Mapping[str, Any]:
        """The parameters that tell this game from others on the same records."""
        return {name: value for name, value in self.get_params().items() if not isinstance(value, Microdata)}


def check_attacker_knows(value: Any) -> None:
    """Check what attackers are to know of the mechanism.

    Raises
    ------
    ValueError
        If it is neither "mechanism" nor "nothing".
    """
    if value not in KNOWS:
        raise ValueError(f"attacker_knows must be one of {', '.join(KNOWS)}, got {value!r}")
