"""Conformance checks of attacks, for every goal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from attacks.attributes.majority_in_class import OtherRelease
from attacks.base import Attack, Claims, Decisions, Knowledge, NotApplicable, Predicates, RankedAnswers, ValueClaims
from attacks.criteria.nearest_row_linkability import LinkedRows
from defenses import Channel, Identity, Microdata, MicrodataRelease, Mondrian
from scenarios.checks.conformance.findings import Check, Prerequisite, check_memory, require
from scenarios.datasets.sums import rating_table
from scenarios.games import (
    CandidateFile,
    CellDowncoding,
    ClassifierMembership,
    Game,
    Intersection,
    Linkability,
    Membership,
    Question,
    ReconstructionQuestion,
    SharedPeople,
    SinglingOut,
    SparseRatings,
    make_release,
    play_alone,
)
from scenarios.running.methods import defined_at, example, exported, known_goals, people, user_code_location
from scenarios.running.workers.differences import different_attribute
from scenarios.tables.seeds import generator


class Inputs(NamedTuple):
    """What an attack is given, and the game that scores its claims.

    - release: A view of the published release.
    - score: ``score(claims)`` scores claims about this release, as the game does.
    """

    release: Any
    knowledge: Knowledge
    score: Callable[[Claims], Any]


@dataclass(frozen=True)
class Stage:
    """A small game in which attacks of one goal are checked.

    - game: ``game(records)`` returns a small game on invented people.
    - claims: Type of the claims that the attacks return.
    - success: Title of the check that attacks succeed on a plain copy, with a rate of at least 90 %. None for no such
      check.
    """

    game: Callable[[Microdata], Game]
    claims: type[Claims]
    success: str | None = None


def _candidates(records: Microdata) -> Game:
    return CandidateFile(records=records, originals=max(1, len(records) // 4), candidates=max(2, len(records) // 2))


def _membership(game: type[Membership], records: Microdata) -> Game:
    return game(records=records, members=max(1, len(records) // 4))


def _two_tables(records: Microdata) -> Game:
    third = max(1, len(records) // 4)
    return Intersection(records=records, originals=third, overlap=max(1, third // 2), strangers=third)


def _control(game: type[Any], records: Microdata) -> Game:
    quarter = max(1, len(records) // 4)
    instance: Game = game(
        **{name: quarter for name in ("originals", "strangers") if name in game.parameter_names()}, records=records
    )
    return instance


def _ratings(records: Microdata) -> Game:
    """A game on ten ratings of each of as many invented persons as there are records."""
    rng = generator(0, "ratings", len(records))
    persons = np.repeat(np.arange(len(records)), 10)
    frame = pd.DataFrame(
        {
            "person": np.char.add("p", persons.astype(str)).astype(object),
            "item": np.char.add("film ", rng.integers(40, size=persons.size).astype(str)).astype(object),
            "rating": rng.integers(1, 11, persons.size) / 2,
            "day": rng.integers(1000, size=persons.size),
        }
    )
    return SparseRatings(records=rating_table(frame), targets=max(1, len(records) // 2), known=4, wrong=1)


def _shared(question: Question, records: Microdata) -> Game:
    quarter = len(records) // 4
    return SharedPeople(
        records=records,
        question=question,
        originals=max(1, quarter),
        others=max(1, quarter),
        auxiliary=quarter,
        held_out=0,
    )


STAGES: dict[tuple[str, str], Stage] = {
    ("reidentification", "microdata"): Stage(_candidates, RankedAnswers, "finds 90 % of the people in a plain copy"),
    ("membership", "microdata"): Stage(partial(_membership, Membership), Decisions),
    ("membership", "model"): Stage(partial(_membership, ClassifierMembership), Decisions),
    ("attribute", "microdata"): Stage(_two_tables, ValueClaims, "names 90 % of the values in a plain copy"),
    ("deanonymization", "microdata"): Stage(_ratings, RankedAnswers, "finds 90 % of the people in a plain copy"),
    ("singling_out", "microdata"): Stage(partial(_control, SinglingOut), Predicates),
    ("linkability", "microdata"): Stage(partial(_control, Linkability), LinkedRows),
    ("record_reconstruction", "microdata"): Stage(
        partial(_shared, ReconstructionQuestion()), ValueClaims, "names 90 % of the values in a plain copy"
    ),
    ("downcoding", "microdata"): Stage(partial(_control, CellDowncoding), ValueClaims),
}
"""Goals and kinds of release of the attacks that are run, besides those of all exported questions."""


@cache
def stages() -> dict[tuple[str, str], Stage]:
    """Stages by goal and kind of release: those of `STAGES`, and exported questions with goals of their own.

    Of attacks without a stage only the parameters are checked.
    """
    asked = {
        (goal, SharedPeople.kind): Stage(partial(_shared, question.example()), claims)
        for question in exported("questions").values()
        if issubclass(question, Question)
        for goal, claims in question.takes.items()
    }
    return asked | STAGES


def attack_checks(method: type[Attack]) -> Iterator[Check]:
    """Checks of an attack, each with its title; none if there is no stage for its goal."""
    stage = stages().get((method.goal, method.kind))
    if stage is None:
        return
    # Most checks use the same inputs, of which some change copies; two use the same claims.
    inputs = cache(partial(_inputs, method, stage))
    first = cache(partial(_first_run, method, stage, inputs))
    tables: dict[str, Callable[[], Microdata]] = {
        "missing values": lambda: people(40, generator(0, "missing"), missing=True),
        "constant columns": lambda: people(40, generator(0, "constant"), constant=True),
        "two people": lambda: people(2, generator(0, "two")),
    }
    yield from (
        Prerequisite("makes claims that a game can score", partial(_scored, method, stage, inputs, first)),
        Check("does not modify its inputs", partial(_unmodified, method, first)),
        Check("same seed, same claims", partial(_same_claims, method, stage, first)),
        Check("earlier runs change no claims", partial(_unremembering, method, stage)),
        *([Check(stage.success, partial(_succeeds, method, stage))] if stage.success is not None else []),
        *(Check(f"handles {title}", partial(_answers, method, stage, records)) for title, records in tables.items()),
    )
    if method.kind != "microdata":
        return
    changes: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
        "a release of one row": lambda frame: frame.iloc[:1],
        "a release without rows": lambda frame: frame.iloc[:0],
        "a completely suppressed release": partial(_filled, cell="*"),
        "a release of missing values": partial(_filled, cell=None),
    }
    yield from (
        *(
            Check(f"handles {title}, or gives a reason", partial(_changed, method, stage, inputs, change))
            for title, change in changes.items()
        ),
        Check("handles an empty list of candidates, or gives a reason", partial(_no_candidates, method, stage, inputs)),
        Check("refuses tables without a common column", partial(_no_common_column, method, stage, inputs)),
    )


def claims_of(method: type[Attack]) -> Claims:
    """Claims of an attack about a release of sixty people; its goal is one of `stages`."""
    stage = stages()[method.goal, method.kind]
    inputs = _inputs(method, stage)
    return _run(method, stage, inputs.release, inputs.knowledge)


def _inputs(method: type[Attack], stage: Stage, records: Microdata | None = None) -> Inputs:
    """Release and knowledge of a play on these records, or on sixty.

    The defense is Identity, or Mondrian for downcoding.
    """
    game = stage.game(people(60, generator(0, "people")) if records is None else records)
    secret = game.draw(generator(0, "draw"))
    groups = Mondrian(k=min(2, len(secret.records)))
    defense = groups if method.goal == "downcoding" else Identity()
    published = make_release(defense, game, secret, generator(0, "release"))[1]
    return Inputs(
        game.view(published, generator(0, "view")),
        game.knowledge(secret, defense),
        lambda claims: game.score(secret, published, claims, generator(0, "score")),
    )


def _run(
    method: type[Attack], stage: Stage, release: Any, knowledge: Knowledge, attack: Attack | None = None
) -> Claims:
    """Claims of an attack, by default of a new example, which must be those of the goal."""
    claims = (attack or example(method)).run(release, knowledge, generator(0, "attack"))
    if not isinstance(claims, stage.claims):
        goals = [goal for goal, kinds in known_goals().items() if isinstance(claims, tuple(kinds))]
        got = "None" if claims is None else type(claims).__name__
        other = f", for which state goal = {' or '.join(map(repr, goals))}" if goals else ""
        raise AssertionError(
            f"run must return {stage.claims.__name__}, since the attack's goal is {method.goal!r}; "
            f"got {got}{other}{defined_at(method.run)}"
        )
    return claims


def _scored(
    method: type[Attack], stage: Stage, inputs: Callable[[], Inputs], first: Callable[[], tuple[Claims, list[str]]]
) -> None:
    claims, _ = first()
    release, knowledge, score = inputs()
    try:
        score(claims)
    except (Exception, SystemExit) as error:  # a game may trip in any way over claims of a wrong size
        rows = f"{len(release.frame)} rows and " if isinstance(release, MicrodataRelease) else ""
        about = f"the release has {rows}{len(knowledge.candidates)} candidates"
        raise AssertionError(f"the game cannot score the claims, {about}: {error}{defined_at(method.run)}") from None


def _runs_or_refuses(method: type[Attack], stage: Stage, release: Any, knowledge: Knowledge) -> None:
    """Run an attack; it may refuse with a message of one line."""
    try:
        _run(method, stage, release, knowledge)
    except (ValueError, NotApplicable) as error:
        require(bool(str(error)) and "\n" not in str(error), "the error message is not a single line")


def _first_run(method: type[Attack], stage: Stage, inputs: Callable[[], Inputs]) -> tuple[Claims, list[str]]:
    """Claims of a run, and the parts of its inputs that it changed."""
    given = inputs()[:2]
    before = [_tables(part) for part in given]
    claims = _run(method, stage, *given)
    pairs = zip(given, before, strict=True)
    return claims, [type(part).__name__ for part, tables in pairs if _tables(part) != tables]


def _unmodified(method: type[Attack], first: Callable[[], tuple[Claims, list[str]]]) -> None:
    _, changed = first()
    require(not changed, f"run changes the {' and the '.join(changed)}", "work on copies of their tables", method.run)


def _tables(inputs: Any) -> list[Any]:
    """Content of all tables in a release or in knowledge."""
    parts = [getattr(inputs, part.name) for part in dataclasses.fields(inputs)]
    frames = [getattr(part, "frame", part) for part in parts]
    return [
        (list(frame.columns), [str(kind) for kind in frame.dtypes], frame.astype(str).to_numpy().tolist())
        for frame in frames
        if isinstance(frame, pd.DataFrame)
    ]


def _same_claims(method: type[Attack], stage: Stage, first: Callable[[], tuple[Claims, list[str]]]) -> None:
    claims, _ = first()
    name = different_attribute(claims, _run(method, stage, *_inputs(method, stage)[:2]))
    right = "draw from rng, not from np.random, and keep nothing between runs"
    require(not name, f"two runs with one seed differ in {name} of the claims", right, method.run)


def _unremembering(method: type[Attack], stage: Stage) -> None:
    others = people(48, generator(0, "other people"))

    def answer(attack: Attack, other: bool) -> Claims:
        return _run(method, stage, *_inputs(method, stage, others if other else None)[:2], attack)

    check_memory(example(method), answer, different_attribute, "claims", method.run)


def _succeeds(method: type[Attack], stage: Stage) -> None:
    game = stage.game(people(400, generator(0, "people")))
    rate = play_alone(Identity(), example(method), game, generator(0, "play"))[2][method.goal].rate
    reached = rate is not None and rate >= 0.9
    require(reached, f"it reaches a rate of {rate} on a plain copy, where 0.9 is required", at=method.run)


def _answers(method: type[Attack], stage: Stage, records: Callable[[], Microdata]) -> None:
    try:
        _run(method, stage, *_inputs(method, stage, records())[:2])
    except NotApplicable as reason:
        require("\n" not in str(reason), "the reason is not a single line")


def _filled(frame: pd.DataFrame, cell: str | None) -> pd.DataFrame:
    """A table of the same shape in which every cell is `cell`."""
    return pd.DataFrame({name: pd.Series(cell, index=frame.index, dtype=object) for name in frame.columns})


def _released(frame: pd.DataFrame) -> MicrodataRelease:
    return MicrodataRelease(frame.reset_index(drop=True), np.full(len(frame), -1), Channel())


def _with_changed_other(knowledge: Knowledge, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Knowledge:
    """The same knowledge; a second public release in it is changed in the same way as the first."""
    if not isinstance(knowledge, OtherRelease):
        return knowledge
    return dataclasses.replace(knowledge, other=_released(change(knowledge.other.frame)))


def _changed(
    method: type[Attack], stage: Stage, inputs: Callable[[], Inputs], change: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    release, knowledge, _ = inputs()
    _runs_or_refuses(method, stage, _released(change(release.frame)), _with_changed_other(knowledge, change))


def _no_candidates(method: type[Attack], stage: Stage, inputs: Callable[[], Inputs]) -> None:
    release, knowledge, _ = inputs()
    _runs_or_refuses(method, stage, release, dataclasses.replace(knowledge, candidates=knowledge.candidates.iloc[:0]))


def _no_common_column(method: type[Attack], stage: Stage, inputs: Callable[[], Inputs]) -> None:
    release, knowledge, _ = inputs()

    def renamed(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.add_prefix("other ")

    try:
        _run(method, stage, _released(renamed(release.frame)), _with_changed_other(knowledge, renamed))
    except (ValueError, NotApplicable) as error:
        words = str(error)
        named = "column" in words or "quasi-identifier" in words
        require(named, f"the error message does not mention columns: {words}{user_code_location(error)}")
    else:
        right = "run must raise ValueError or NotApplicable naming the columns, as shared_columns of attacks does"
        raise AssertionError(f"tables without a common column are accepted; {right}{defined_at(method.run)}")
