"""Questions about a finished release, posed about people of the given tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Predicates, RankedAnswers
from attacks.criteria.atomic_predicates import records_met
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from leaderboard.number_text import number
from metrics.arrays import Integers
from metrics.score import Score
from scenarios.finished.attack_sets import (
    ATTRIBUTES,
    COSTLY_ROWS,
    EVERYTHING,
    HALVES,
    LINKS,
    MEMBERS,
    NOTHING,
    QUASI,
    QUASI_ROWS,
    ROWS,
    SINGLING_OUT,
    attempted,
)
from scenarios.finished.attribute_baseline import baseline_successes, inferred, true_codes, with_first_sensitive
from scenarios.finished.control_people import records_among
from scenarios.finished.evaluation_setting import AUXILIARY, EvaluationSetting
from scenarios.finished.finished_table import FinishedTable
from scenarios.finished.measured_attack import MeasuredAttack
from scenarios.finished.row_origin import RowOrigin
from scenarios.games.controlled import controlled
from scenarios.games.people import People
from scenarios.games.row_answers import row_scores
from scenarios.questions.attribute_question import AttributeQuestion
from scenarios.questions.link_question import LinkQuestion
from scenarios.questions.member_question import MemberQuestion
from scenarios.questions.question import Question
from scenarios.questions.singling_out_question import SinglingOutQuestion
from scenarios.seeds import generator

PAIRS = 30_000_000
"""Largest number of pairs of a row and a person that an attack compares."""
FEWEST = 100
"""Number of people down to which they are reduced for large tables."""
COSTLY = 100
"""Number of rows about which the costly linkage attack is asked."""


@dataclass(frozen=True)
class PosedQuestions:
    """The questions of the game `scenarios.SharedPeople`, about people of the given tables and one finished release.

    No attack can repeat the mechanism, since only its result is known.

    Parameters
    ----------
    setting : EvaluationSetting
        Original table and control people.
    table : FinishedTable
        The release.
    origin : RowOrigin
        What is known about the origin of its rows.
    """

    setting: EvaluationSetting
    table: FinishedTable
    origin: RowOrigin

    @cached_property
    def release(self) -> MicrodataRelease:
        """The release, with the origins that were recognized."""
        return MicrodataRelease(self.table.frame, self.origin.origin)

    @property
    def targets(self) -> int:
        """Number of people in the table whom attacks are about."""
        return most_targets(self.setting.targets, len(self.setting.records), len(self.table.frame))

    def outcomes(self) -> Iterator[MeasuredAttack]:
        """Outcome of every attack on every question that can be asked."""
        if self.origin.kind != "unknown":
            yield from self._rows()
        if self.setting.control is not None:
            yield from self._members()
        for column in self.setting.records.sensitive:
            yield from self._attributes(column)
        yield from self._singling_out()
        if self.setting.control is not None:
            yield from self._links()

    def notes(self) -> list[str]:
        """What was asked about whom, and what cannot be measured, one sentence each."""
        setting, records = self.setting, self.setting.records
        notes = [self.origin.note, f"attacks are about {self.targets} of {len(records)} people in the table"]
        if setting.control is None:
            notes += [
                "without control people (--control), membership and linkability are not measured",
                f"without control people, singling out is compared with {number(bound(len(records)))}, the most that a "
                "predicate isolates without the release, and is rather understated",
            ]
            if records.sensitive:
                notes.append(
                    "without control people, inferred values are compared with those that the other records in the "
                    "clear predict"
                )
        else:
            notes.append(
                f"control people: {len(setting.control)}, of whom {len(setting.others(self.targets))} are asked"
            )
            equal = records_among(setting.control, records)
            if equal:
                notes.append(
                    f"{equal} of {len(setting.control)} control people equal a record in every column; if they were in "
                    "the table, advantages are understated"
                )
            if len(setting.control) < len(records):
                notes.append(
                    f"singling out is compared with {number(bound(len(records)))}, the most that a predicate isolates "
                    f"without the release: {len(records)} control people would be needed to measure the chance level"
                )
        if not records.sensitive:
            notes.append("no column is sensitive, so that no values are inferred")
        if records.person is not None:
            notes.append(f"rows are counted, although a person ({records.person}) may have several")
        return notes

    def _rng(self, *names: str) -> Generator:
        return generator(self.setting.seed, "rank", self.table.sha256, *names)

    def _public(self, people: Microdata) -> Microdata:
        return replace(people, domains={**people.domains, **self.table.domains})

    @cached_property
    def _own_people(self) -> Microdata:
        """The attacker's own people."""
        return self._public(self.setting.auxiliary(self.targets, self._affordable(AUXILIARY)))

    def _affordable(self, people: int) -> int:
        """Number of people who are compared with all rows, fewer than wanted for large tables."""
        return _affordable(people, len(self.table.frame))

    def _people(self, members: Microdata, others: Microdata, own: Microdata) -> People:
        rng = generator(self.setting.seed, "rank", "order", len(members), len(others))
        order = rng.permutation(len(members) + len(others))
        return People(members, others, own, order, rng, self.setting.utility(self.table.domains))

    def _rows(self) -> Iterator[MeasuredAttack]:
        """Linkage of rows with all people in the table; a sample of people only would leave too few look-alikes."""
        records, rng = self.setting.records, self._rng("rows")
        known = rng.permutation(np.flatnonzero(self.origin.origin >= 0))
        order = rng.permutation(len(records))
        positions = np.argsort(order)
        everything = list(self.table.frame.columns)
        quasi = [name for name in everything if name in records.quasi_identifiers]
        affordable = max(FEWEST, min(self.targets, PAIRS // len(records)))
        linkage = [(attack, EVERYTHING, everything, affordable) for attack in ROWS]
        linkage += [(attack, EVERYTHING, everything, min(COSTLY, affordable)) for attack in COSTLY_ROWS]
        if quasi and quasi != everything:
            linkage += [(attack, QUASI, quasi, affordable) for attack in QUASI_ROWS]
        for attack, knows, columns, count in linkage:
            release = self.release.take(known[:count])
            candidates = records.frame[columns].iloc[order].reset_index(drop=True)
            yield attempted(attack, knows, partial(self._linked, attack, release, candidates, positions))

    def _linked(
        self, attack: Attack, release: MicrodataRelease, candidates: pd.DataFrame, positions: Integers
    ) -> Score:
        rng = self._rng("rows", type(attack).__name__)
        claims = RankedAnswers.of(attack.run(release.view(rng), Knowledge(candidates, self._own_people), rng))
        return row_scores(claims, release.origin, positions, len(positions), rng)["reidentification"]

    def _members(self) -> Iterator[MeasuredAttack]:
        others = self.setting.others(self.targets)
        members = self.setting.members(min(self.targets, len(others)))
        people = self._people(
            self._public(members), self._public(others.take(np.arange(len(members)))), self._own_people
        )
        for attack in MEMBERS:
            yield attempted(attack, EVERYTHING, partial(self._asked, MemberQuestion(), attack, people))

    def _attributes(self, column: str) -> Iterator[MeasuredAttack]:
        count = self.targets
        if self.setting.control is None:
            # The other half, or more, is what the baseline learns from.
            count = min(count, len(self.setting.records) // 2)
        members = with_first_sensitive(self._public(self.setting.members(count)), column)
        if self.setting.control is None:
            yield from self._attributes_without_control(column, members)
            return
        others = with_first_sensitive(self._public(self.setting.others(self.targets)), column)
        own = with_first_sensitive(self._own_people, column)
        people = self._people(members, others, own)
        for attack in ATTRIBUTES:
            yield attempted(attack, QUASI, partial(self._asked, AttributeQuestion(), attack, people, column), column)

    def _attributes_without_control(self, column: str, members: Microdata) -> Iterator[MeasuredAttack]:
        """Attribute inference compared with what the other records predict (`baseline_successes`)."""
        rest = with_first_sensitive(self._public(self.setting.rest(len(members))), column)
        own = rest.take(np.arange(min(self._affordable(AUXILIARY), len(rest))))
        truth = true_codes(members, column)
        known = int((truth < members.domains[column].size).sum())

        def compared(attack: Attack) -> Score:
            rng = self._rng("attributes", column, type(attack).__name__)
            knowledge = Knowledge(members.frame[list(members.quasi_identifiers)], own)
            claims = attack.run(self.release.view(rng), knowledge, rng)
            correct = float(inferred(claims, members, column, truth).sum())
            baseline = float(baseline_successes(self.setting, column, len(members)).sum())
            return controlled("attribute", correct, known, baseline, known)["attribute"]

        for attack in ATTRIBUTES:
            yield attempted(attack, QUASI, partial(compared, attack), column)

    def _singling_out(self) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, len(self.setting.records)
        people = self._people(setting.records, setting.records.take([]), self._public(setting.records.take([])))
        if setting.control is not None and len(setting.control) >= count:
            strangers = setting.control.take(setting.control_order[:count])
            people = replace(people, others=strangers)

        def isolated(attack: Attack) -> Score:
            if len(people.others):
                return self._asked(SinglingOutQuestion(), attack, people)
            rng = self._rng("singling_out", type(attack).__name__)
            claims = attack.run(self.release.view(rng), SinglingOutQuestion().knowledge(people, None), rng)
            if not isinstance(claims, Predicates) or not claims.predicates:
                return Score("singling_out", None, bound(count), 0)
            trials = len(claims.predicates)
            return Score(
                "singling_out",
                records_met(claims.predicates, people.records.frame).count(1) / trials,
                bound(count),
                trials,
            )

        for attack in SINGLING_OUT:
            yield attempted(attack, NOTHING, partial(isolated, attack))

    def _links(self) -> Iterator[MeasuredAttack]:
        columns = list(self.table.frame.columns)
        (attack,), half = LINKS, (len(columns) + 1) // 2
        if len(columns) < 2:
            yield MeasuredAttack(
                attack=type(attack).__name__, goal=attack.goal, knows=HALVES, reason="there is one shared column"
            )
            return
        question = LinkQuestion(parts={"first": columns[:half], "second": columns[half:]})
        members, others = (self._public(side(self.targets)) for side in (self.setting.members, self.setting.others))
        people = self._people(members, others, self._own_people)
        yield attempted(attack, HALVES, partial(self._asked, question, attack, people))

    def _asked(self, question: Question, attack: Attack, people: People, column: str = "") -> Score:
        """Score of one attack on one question of the game."""
        rng = self._rng(attack.goal, column, type(attack).__name__)
        claims = attack.run(self.release.view(rng), question.knowledge(people, None), rng)
        return question.score(people, self.release, claims, rng)[attack.goal]


def most_targets(targets: int, records: int, rows: int) -> int:
    """Number of people about whom attacks are asked: at most `targets`, all records, and what released rows allow."""
    return min(targets, records, _affordable(2 * targets, rows) // 2)


def _affordable(people: int, rows: int) -> int:
    """Number of people who are compared with all rows, fewer than wanted for many rows."""
    return min(people, max(FEWEST, PAIRS // rows))


def bound(records: int) -> float:
    """Largest probability that a predicate chosen without the release holds for one of so many records alone.

    A predicate that holds for a share w of the population isolates one of n records with probability n w (1 - w)^(n -
    1), which is largest for w = 1 / n (Cohen and Nissim 2020).
    """
    return (1 - 1 / records) ** (records - 1)
