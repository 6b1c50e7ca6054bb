"""De-anonymization of sparse ratings by a few known ratings of each target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Knowledge, RankedAnswers
from defenses import Defense, Microdata, MicrodataRelease, Release
from metrics.columns import Integers, check_boolean, check_integer, check_real, refuse, scattered
from metrics.rating_utility import RatingUtility
from metrics.score import Score, Scores
from scenarios.games.game import Secret
from scenarios.games.table_game import TableGame, table

REDRAWS = 1000


@dataclass(frozen=True)
class SparseRatingsSecret(Secret):
    """Targets of one play, and the adversary's ratings of them.

    - person, shape (ratings,): Number of the person of each rating.
    - targets, shape (targets,): Numbers of the targets.
    - known: Known ratings of the targets, with item, rating and, if dates are known, date. The column of persons
      numbers the targets from 0.
    """

    person: Integers = field(repr=False)
    targets: Integers = field(repr=False)
    known: pd.DataFrame = field(repr=False)


class SparseRatings(TableGame):
    """De-anonymization of sparse ratings: the adversary knows a few ratings of each target, some of them wrong.

    All ratings are released under fresh pseudonyms, with rows in random order. The adversary knows some ratings of each
    target, with dates that are off by up to `days`. A wrong rating is of an item that the target never rated, drawn by
    popularity; its rating and date come from other random rows. The adversary names a pseudonym for each target, or
    abstains.

    Parameters
    ----------
    records : Microdata
        Ratings, with a column declared as person.
    targets : int
        Number of targets.
    known, wrong : int
        Number of known ratings of each target, and number of wrong ones among them; wrong <= known.
    days : float
        Largest error of a known date, in days.
    dates : bool
        Whether the adversary knows dates.
    item, rating, date : str
        Names of the columns; dates are numbers of days.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range, a column is missing or not numeric, or fewer than `targets` people have `known`
        ratings.

    References
    ----------
    Narayanan and Shmatikov (2008), Robust de-anonymization of large sparse datasets, section 5.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"deanonymization": RankedAnswers}
    draws_people: ClassVar[bool] = True

    def __init__(
        self,
        *,
        records: Microdata,
        targets: int = 300,
        known: int = 8,
        wrong: int = 2,
        days: float = 14.0,
        dates: bool = True,
        item: str = "item",
        rating: str = "rating",
        date: str = "day",
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.item = item
        self.rating = rating
        self.date = date
        self.targets = check_integer("targets", targets, low=1)
        self.known = check_integer("known", known, low=1)
        self.wrong = check_integer("wrong", wrong, low=0)
        self.days = check_real("days", days, low=0)
        refuse(wrong > known, f"wrong must be at most known ({known}), got {wrong}")
        self.dates = check_boolean("dates", dates)
        refuse(records.person is None, "records: no column names the person whose row it is; declare it as person")
        for parameter in ("item", "rating", "date"):
            name = getattr(self, parameter)
            refuse(name not in records.frame, f"{parameter}: there is no column {name!r}")
            refuse(
                parameter != "item" and not pd.api.types.is_numeric_dtype(records.frame[name]),
                f"{parameter}: column {name!r} must hold numbers",
            )
        eligible = self._eligible.size
        refuse(
            eligible < targets,
            f"targets: {targets} people with {known} ratings or more are needed, but there are {eligible}",
        )

    @cached_property
    def _person(self) -> Integers:
        return pd.factorize(self.records.frame[self.records.person], sort=True, use_na_sentinel=False)[0]

    @cached_property
    def _persons(self) -> int:
        return int(self._person.max()) + 1 if self._person.size else 0

    @cached_property
    def _eligible(self) -> Integers:
        """People with at least `known` ratings."""
        return np.flatnonzero(np.bincount(self._person, minlength=self._persons) >= self.known)

    @cached_property
    def _item(self) -> Integers:
        return pd.factorize(self.records.frame[self.item], use_na_sentinel=False)[0]

    @cached_property
    def _utility(self) -> RatingUtility:
        columns = (str(self.records.person), self.item, self.rating, self.date)
        return RatingUtility(self.records.frame, self.records.domains, *columns)

    def draw(self, rng: Generator, choice: Any = None) -> SparseRatingsSecret:
        """Draw targets and the adversary's ratings of them.

        Raises
        ------
        ValueError
            If a target has rated nearly every item, so that no wrong rating can be drawn.
        """
        targets = rng.choice(self._eligible, self.targets, replace=False)
        number = scattered(np.arange(self.targets), targets, self._persons)
        rows = np.flatnonzero(number[self._person] >= 0)
        owner = number[self._person[rows]]
        # Ratings are in random order within each target; the first of them are known.
        order = np.lexsort((rng.random(rows.size), owner))
        rank = np.arange(rows.size) - np.searchsorted(owner[order], owner[order])
        chosen = rows[order][rank < self.known]
        frame = self.records.frame
        ratings = frame.iloc[chosen][[self.item, self.rating, self.date]].reset_index(drop=True)
        ratings[self.date] = ratings[self.date] + rng.uniform(-self.days, self.days, len(ratings))
        owner = np.repeat(np.arange(self.targets), self.known)
        wrong = np.flatnonzero(np.tile(np.arange(self.known) < self.wrong, self.targets))
        sources = {
            self.item: self._unrated(targets[owner[wrong]], rng),
            self.rating: rng.integers(len(frame), size=wrong.size),
            self.date: rng.integers(len(frame), size=wrong.size),
        }
        for name, source in sources.items():
            ratings.loc[wrong, name] = frame[name].to_numpy()[source]
        ratings.insert(0, str(self.records.person), owner)
        if not self.dates:
            ratings = ratings.drop(columns=self.date)
        return SparseRatingsSecret(self.records, self._person, targets, ratings)

    def _unrated(self, person: Integers, rng: Generator) -> Integers:
        """Draw for each of these people a row of an item that the person did not rate."""
        items = int(self._item.max()) + 1
        rated = np.unique(self._person * items + self._item)
        row = rng.integers(self._item.size, size=person.size)
        for _ in range(REDRAWS):
            conflicts = np.flatnonzero(np.isin(person * items + self._item[row], rated))
            if not conflicts.size:
                return row
            row[conflicts] = rng.integers(self._item.size, size=conflicts.size)
        raise ValueError("wrong: a person has rated nearly every item, so that no unrated item was found")

    def publish(self, release: Release, rng: Generator) -> MicrodataRelease:
        """Replace persons by random numbers and put the rows in random order."""
        shuffled = table(release).shuffled(rng)
        name = self.records.person
        if name not in shuffled.frame:
            return shuffled
        codes, distinct = pd.factorize(shuffled.frame[name], use_na_sentinel=False)
        frame = shuffled.frame.assign(**{str(name): rng.permutation(len(distinct))[codes]})
        return MicrodataRelease(frame, shuffled.origin, shuffled.channel)

    def knowledge(self, secret: SparseRatingsSecret, defense: Defense) -> Knowledge:
        """Give the known ratings, the public roles and domains, and the mechanism if the game discloses it."""
        return Knowledge(secret.known.copy(), self.public(self.records.take([])), self.simulation(defense))

    def score(self, secret: SparseRatingsSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the best answer for each target.

        A pseudonym belongs to the person from whom most of its rows stem.

        Returns
        -------
        Scores
            ``deanonymization``: share of targets with a correct pseudonym; chance is 1 / people. Measures: ``wrong``:
            share of targets with a wrong pseudonym; ``answered``: share of targets with an answer.

        Raises
        ------
        TypeError
            If the claims are not ranked answers.
        ValueError
            If the claims have another number of targets or pseudonyms.
        """
        ranked: RankedAnswers = self.taken(claims)
        pseudonym, count = _pseudonyms(published, self.records.person)
        refuse(
            (ranked.targets, ranked.answers) != (self.targets, count),
            f"the answers are about {ranked.targets} people and {ranked.answers} pseudonyms, "
            f"but there are {self.targets} and {count}",
        )
        has_origin = published.origin >= 0
        owner = _majority(pseudonym[has_origin], secret.person[published.origin[has_origin]], count)
        best = ranked.best(rng)
        answered = best >= 0
        correct = answered & (owner[best] == secret.targets)
        return Scores.of(
            Score("deanonymization", float(correct.mean()), 1 / self._persons, self.targets),
            wrong=float((answered & ~correct).mean()),
            answered=float(answered.mean()),
        )

    def utility(self, secret: SparseRatingsSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Utility of the released ratings (`metrics.rating_utility.RatingUtility`)."""
        return self._utility.score(release.frame)


def _pseudonyms(published: MicrodataRelease, person: str | None) -> tuple[Integers, int]:
    """Position of each row's pseudonym among the sorted distinct pseudonyms, and their number."""
    if person not in published.frame:
        return np.zeros(len(published.frame), dtype=np.intp), 1
    codes, distinct = pd.factorize(published.frame[person], sort=True, use_na_sentinel=False)
    return codes, len(distinct)


def _majority(group: Integers, value: Integers, groups: int) -> Integers:
    """Most frequent value of each group, the smallest of several; -1 in an empty group."""
    pairs, count = np.unique(np.column_stack([group, value]), axis=0, return_counts=True)
    # The last assignment wins, so counts ascend, and values descend among equal counts.
    order = np.lexsort((-pairs[:, 1], count))
    return scattered(pairs[order, 1], pairs[order, 0], groups + 1)
