"""One play of one defense against one attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from attacks.base import Attack, NotApplicable
from defenses import Defense
from defenses.base import applied
from metrics.score import Scores
from scenarios.games.game import Game


@dataclass(frozen=True)
class Outcome:
    """Result of one play.

    Attributes
    ----------
    scores : Scores
        Scores of the attack by goal, and further measures (see the game's `score`).
    utility : dict of str to float or None
        Utility of the release (see the game's `utility`).

    Examples
    --------
    >>> from metrics import Score, Scores
    >>> from scenarios import Outcome
    >>> scores = Scores.of(Score("reidentification", rate=0.3, chance=0.05, trials=10))
    >>> outcome = Outcome(scores, utility={"marginals": 0.9})
    >>> outcome.scores["reidentification"].rate, outcome.utility["marginals"]
    (0.3, 0.9)
    """

    scores: Scores
    utility: dict[str, float | None]


def play(defense: Defense, attack: Attack, game: Game, rng: Generator) -> Outcome:
    """Play a game once: draw, defend, publish, attack, score.

    Parameters
    ----------
    defense, attack, game : Defense, Attack, Game
        The defense, the attack and the game.
    rng : Generator
        Source of all randomness. Equal generators give equal outcomes.

    Raises
    ------
    NotApplicable
        If the defense or the attack does not fit the game.
    ValueError
        If the parameters do not fit the records drawn.

    Examples
    --------
    On a constant table no attack beats the baseline rate, here one in 20 candidates.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import AssignmentLinkage
    >>> from defenses import Constant, Microdata
    >>> from scenarios import CandidateFile, play
    >>> records = Microdata(pd.DataFrame({"age": range(18, 78)}), quasi_identifiers=("age",))
    >>> game = CandidateFile(records=records, originals=10, candidates=20)
    >>> outcome = play(Constant(), AssignmentLinkage(), game, np.random.default_rng(1))
    >>> outcome.scores["reidentification"].chance, outcome.utility["marginals"]
    (0.05, 0.0)
    """
    reason = game.misfit(defense, attack)
    if reason:
        raise NotApplicable(reason)
    secret, release, scores = play_alone(defense, attack, game, rng)
    return Outcome(scores, game.utility(secret, release))


def play_alone(defense: Defense, attack: Attack, game: Game, rng: Generator) -> tuple[Any, Any, Scores]:
    """Draw a secret for this trial alone and play; returns the secret, the release and the scores.

    In a game with `lets_choose` the adversary makes its choice before the draw.
    """
    choice_rng, draw_rng, release_rng, attack_rng = rng.spawn(4)
    choice = attack.choose(game.briefing(defense, choice_rng), choice_rng) if game.lets_choose else None
    secret = game.draw(draw_rng, choice)
    release, published = make_release(defense, game, secret, release_rng)
    return secret, release, attack_release(defense, attack, game, secret, published, attack_rng)


def make_release(defense: Defense, game: Game, secret: Any, rng: Generator) -> tuple[Any, Any]:
    """Release the secret's records; returns the defense's release and the published one."""
    defense_rng, publish_rng = rng.spawn(2)
    release = applied(defense, secret.records, defense_rng)
    return release, game.publish(release, publish_rng)


def attack_release(defense: Defense, attack: Attack, game: Game, secret: Any, published: Any, rng: Generator) -> Scores:
    """Run one attack on the published release and score its claims."""
    return scores_of(defense, attack, game, secret, published, Randomness.spawned(rng))


@dataclass(frozen=True)
class Randomness:
    """Generators of one attack on one release, by what they are for.

    - view: Makes the attack's view of the release.
    - attack: Serves the attack itself.
    - score: Breaks ties among its claims.
    """

    view: Generator
    attack: Generator
    score: Generator

    @classmethod
    def spawned(cls, rng: Generator) -> Randomness:
        """Three independent generators."""
        return cls(*rng.spawn(3))

    @classmethod
    def in_turn(cls, rng: Generator) -> Randomness:
        """One generator from which view, attack and score draw in turn."""
        return cls(rng, rng, rng)


def scores_of(defense: Defense, attack: Attack, game: Game, secret: Any, published: Any, rngs: Randomness) -> Scores:
    """Scores of an attack's claims about a published release; the arguments are those of `claims_of`."""
    claims = claims_of(defense, attack, game, secret, published, rngs)
    return game.score(secret, published, claims, rngs.score)


def claims_of(defense: Defense, attack: Attack, game: Game, secret: Any, published: Any, rngs: Randomness) -> Any:
    """Claims of an attack about a published release; every attack on a release runs here.

    - defense: The defense that made the release, or the file that it was read from.
    - published: The published release, of which the attack receives a view.
    """
    return attack.run(game.view(published, rngs.view), game.knowledge(secret, defense), rngs.attack)
