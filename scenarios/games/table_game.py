"""Games on released tables: people drawn anew, shared by several questions, or given beside a finished release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from attacks import Claims, Knowledge
from defenses import Defense, Microdata, MicrodataRelease, Release
from metrics import Scores, TableUtility, equivalence_classes, k_anonymity, l_diversity
from metrics.columns import Domain, Integers, check_choice, check_integer, refuse, require
from metrics.table_utility import prediction_target
from scenarios.games.game import KNOWS, Game, Publisher
from scenarios.games.people import Drawn, People
from scenarios.games.questions.question import Question
from scenarios.tables.review import ClassMembers, RowsOfPeople, Units, each_a_person, person_numbers

# Utility of a released table, and its measured k and l.


def table_worth(utility: TableUtility, roles: Microdata, release: MicrodataRelease) -> dict[str, float | None]:
    """Anchored utility of a released table (`metrics.table_utility.TableUtility`), and its measured k and l.

    - utility: Measures the utility of releases of the originals.
    - roles: The originals, which give the roles of the columns.
    - release: The release: utility is that of its analyst's table, k and l are those of its released cells.
    - returns: Components of utility, and ``k`` and ``l``. These are None without quasi-identifiers or rows; ``l`` also
      without a sensitive column. ``k`` counts people where the originals name them; a row of nobody counts as a person.
    """
    measured: dict[str, float | None] = {"k": None, "l": None}
    if roles.quasi_identifiers and len(release.frame):
        measured["k"] = k_anonymity(release.frame, roles.quasi_identifiers)
        if RowsOfPeople.of(roles) is not None:
            classes = equivalence_classes(release.frame, roles.quasi_identifiers)
            people = each_a_person(np.append(person_numbers(roles), -1)[release.origin])
            measured["k"] = int(ClassMembers.of(classes, people).sizes.min())
        if roles.sensitive:
            measured["l"] = min(l_diversity(release.frame, roles.quasi_identifiers, name) for name in roles.sensitive)
    return {**utility.score(release.analyst_table), **measured}


class TableGame(Game):
    """Abstract game on a released table with rows in random order; a subclass draws and scores.

    - attacker_knows, {"mechanism", "nothing"}: Whether attacks can read the release's channel and repeat the defense on
      other records.
    """

    def __init__(self, *, records: Microdata, attacker_knows: str) -> None:
        self.attacker_knows = check_choice("attacker_knows", attacker_knows, KNOWS)
        self.records = records

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """Public domains of the released columns: declared ones, otherwise inferred from the population."""
        return {name: self.records.domain(name) for name in self.records.released_columns}

    def public(self, people: Microdata) -> Microdata:
        """Return the same people with the public domains of all columns."""
        return replace(people, domains={**people.domains, **self.domains})

    def publish(self, release: Release, rng: Generator) -> Release:
        """Put the rows in random order."""
        return in_random_order(release, rng)

    def simulation(self, defense: Defense) -> Publisher | None:
        """Repeat the defense; games that publish a table as it is share one publisher, and so its simulations."""
        publisher = super().simulation(defense)
        if publisher is not None and type(self).publish is TableGame.publish:
            return replace(publisher, publish=in_random_order)
        return publisher

    def table_utility(self, records: Microdata, held_out: Microdata, rng: Generator) -> TableUtility:
        """Utility measure of releases of `records`; `held_out` tests classifiers, and `rng` draws queries."""
        target = prediction_target(records.sensitive, self.domains)
        return TableUtility(records.frame, self.domains, held_out.frame, target, rng)

    def utility(self, secret: Any, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.table_utility.TableUtility`), and its measured k and l."""
        return table_worth(secret.utility, secret.records, release)


def in_random_order(release: Release, rng: Generator) -> MicrodataRelease:
    """Check that a release is a table, and put its rows in random order."""
    return table(release).shuffled(rng)


def table(release: Release) -> MicrodataRelease:
    """Check that a release is a table, and return it.

    Raises TypeError if the release is of another kind.
    """
    if not isinstance(release, MicrodataRelease):
        raise TypeError(f"this game publishes a table, got a {release.kind} release")
    return release


# Base of games that ask one question about the people of a play.


class QuestionGame(TableGame):
    """Abstract game on a released table that asks one question about people; a subclass says which people are drawn.

    - records: The population; at least one column is not an identifier.
    - auxiliary, held_out: Number of the adversary's people, and of people who test classifiers trained on the release.
      A small population may give fewer.
    - attacker_knows: See `TableGame`.
    - question: Says what attacks see and know, and scores their claims.
    """

    draws_people = True
    question: Question

    def __init__(self, *, records: Microdata, auxiliary: int = 0, held_out: int = 0, attacker_knows: str) -> None:
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.auxiliary = check_integer("auxiliary", auxiliary, low=0)
        self.held_out = check_integer("held_out", held_out, low=0)
        require(records.released_columns, "records: every column is an identifier, so nothing would be released")

    @property
    def takes(self) -> Mapping[str, type[Claims]]:  # type: ignore[override]  # other games know their claims as classes
        """The claims that answer the question, by goal."""
        return self.question.takes

    @property
    def population(self) -> Microdata:
        """The records, with the roles of columns in this game."""
        return self.records

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw the numbers of originals, others, the adversary's people, and held-out people."""
        raise NotImplementedError(f"{type(self).__name__} draws nobody by itself")

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw the people of one play; equal generators give the same people, whatever the question."""
        people_rng, query_rng, order_rng, own_rng = rng.spawn(4)
        return self.measured(*self.seated(self.groups(people_rng), order_rng, own_rng), query_rng)

    def seated(self, groups: Sequence[Integers], order_rng: Generator, own_rng: Generator) -> tuple[Drawn, Microdata]:
        """Drawn people with all their rows, the candidates in random order; the held-out people come second."""
        records, others, auxiliary, held_out = (self.population.take(self._rows_of(group)) for group in groups)
        order = order_rng.permutation(len(records) + len(others))
        return Drawn(records, others, self.public(auxiliary), order, own_rng), held_out

    @cached_property
    def units(self) -> Units:
        """People of the population with all their records, or whole groups of them; the game draws these."""
        return Units.of(self.records)

    def _rows_of(self, units: Integers) -> Integers:
        """Positions of the records of units of these numbers, in their order."""
        place = np.full(self.units.size, -1)
        place[units] = np.arange(units.size)
        places = place[self.units.numbers]
        rows = np.flatnonzero(places >= 0)
        return np.asarray(rows[np.argsort(places[rows], kind="stable")])

    def measured(self, drawn: Drawn, held_out: Microdata, query_rng: Generator) -> People:
        """Drawn people with the utility of releases of the originals."""
        return People(**vars(drawn), utility=self.table_utility(drawn.records, held_out, query_rng))

    def view(self, published: Release, rng: Generator) -> Any:
        """Return one attack's view of what the question shows of the published release."""
        return super().view(self.question.view(published), rng)

    def knowledge(self, secret: Any, defense: Defense) -> Knowledge:
        """Give what the question gives, and the mechanism if the game discloses it."""
        return self.question.knowledge(secret, self.simulation(defense))

    def score(self, secret: Any, published: Any, claims: Claims, rng: Generator) -> Scores:
        """Score the claims as the question does.

        Raises TypeError if the claims are of another kind. Raises ValueError if the claims do not match the rows,
        people or values.
        """
        return self.question.score(secret, self.question.view(published), self.taken(claims), rng)


@dataclass(frozen=True)
class GivenPeople(Drawn):
    """People of given tables; nothing but their order is drawn."""

    @classmethod
    def listed(cls, candidates: Microdata, auxiliary: Microdata, answers: Integers | None = None) -> GivenPeople:
        """People of a list of candidates, in its order.

        - auxiliary: The adversary's people.
        - answers, shape (originals,): Position of each original among the candidates; nobody is known to be one by
          default.
        """
        own = np.zeros(0, dtype=np.intp) if answers is None else answers
        others = np.setdiff1d(np.arange(len(candidates)), own)
        order = np.argsort(np.concatenate([own, others]))
        # Questions about such people draw nothing.
        return cls(candidates.take(own), candidates.take(others), auxiliary, order, np.random.default_rng(0))


class FinishedRelease(QuestionGame):
    """A question about given people and a release that is published as it is, its rows in their order.

    Nobody can repeat the mechanism, since only its result is known. What is public about it, the channel, is known. The
    question says what the adversary sees and knows, and scores its claims.
    """

    def __init__(self, *, people: Drawn, question: Question) -> None:
        super().__init__(records=people.records, attacker_knows="mechanism")
        self.people = people
        self.question = question

    def draw(self, rng: Generator, choice: Any = None) -> Drawn:
        """Give the people."""
        return self.people

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Nothing: utility is measured apart, on the whole table."""
        return {}

    def publish(self, release: Release, rng: Generator) -> Release:
        """Publish the table as it is."""
        return table(release)

    def simulation(self, defense: Defense) -> None:
        """Nobody can repeat what made the release."""


class SharedPeople(QuestionGame):
    """One question about people who are drawn once for all questions of a scenario.

    Each play draws originals, others, the adversary's people and held-out people, all distinct and uniformly. The
    defense releases the originals once. A scenario that lists several questions puts each to this release. The others
    are decoys, non-members or the control group, as the question has it.

    Parameters
    ----------
    records : Microdata
        The population; at least `originals` + `others` records.
    question : Question
        Says what the adversary knows, and scores its claims.
    originals, others : int
        Number of released people, and of people who are not in the table.
    auxiliary, held_out : int
        Number of the adversary's people, and of people who test classifiers trained on the release.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, or the question cannot be asked about it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import NearestNeighbour
    >>> from defenses import Identity, Microdata
    >>> from scenarios import RowQuestion, SharedPeople, play
    >>> records = Microdata(pd.DataFrame({"age": range(18, 78)}), quasi_identifiers=("age",))
    >>> sizes = {"originals": 10, "others": 10, "auxiliary": 20, "held_out": 20}
    >>> game = SharedPeople(records=records, question=RowQuestion(), **sizes)
    >>> outcome = play(Identity(), NearestNeighbour(), game, np.random.default_rng(1))
    >>> outcome.scores["reidentification"].rate
    1.0
    """

    variants = ("question",)
    shares_people = True

    def __init__(
        self,
        *,
        records: Microdata,
        question: Question,
        originals: int = 1000,
        others: int = 1000,
        auxiliary: int = 1000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.question = question
        self.originals = check_integer("originals", originals, low=1)
        self.others = check_integer("others", others, low=1)
        needed = originals + others + auxiliary + held_out
        refuse(
            self.units.size < needed,
            f"originals, others, auxiliary and held_out: {needed} people are needed, but the table has "
            f"{self.units.words}",
        )
        question.check(records, originals, others)

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw all people distinct and uniformly."""
        ends = np.cumsum([self.originals, self.others, self.auxiliary, self.held_out])
        return np.split(rng.permutation(self.units.size), ends)[:4]
