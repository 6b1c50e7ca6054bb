"""Membership inference that searches the most vulnerable records and repeats the defense with and without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Decisions, Knowledge, applicable, common_columns, given, shared_distance
from attacks.membership.query_membership import QueryMembership, query_evidence, with_and_without
from attacks.membership.reference_tables import same_columns
from defenses.base import Microdata, MicrodataRelease, released_frame
from metrics.columns import Booleans, Integers, check_integer

# Neighbours whose mean distance says how isolated a record is.
NEIGHBOURS = 5


def most_isolated(knowledge: Knowledge, columns: list[str], count: int) -> Integers:
    """Positions of the candidates of largest mean Gower distance to the five nearest other candidates.

    Source: Meeus, Guépin, Creţu and de Montjoye (2023), Achilles' heels: vulnerable record identification in synthetic
    data publishing, section 4.
    """
    people = knowledge.candidates[columns]
    rows = released_frame(Microdata(people.reset_index(drop=True), domains=knowledge.domains(columns)))
    itself = MicrodataRelease(rows, np.full(len(people), -1))
    near = np.sort(shared_distance(itself, knowledge), axis=0)[1 : 1 + NEIGHBOURS]
    return np.argsort(-near.sum(axis=0), kind="stable")[:count]


class VulnerableRecordMembership(QueryMembership):
    """Membership inference on the most vulnerable records, by releases with and without each of them.

    A record is vulnerable if it is far from its nearest neighbours: a generator that learns little of the others shows
    much of it. The defense is repeated on the attacker's people and a random half of the vulnerable candidates. Each of
    them is in half of these tables. Its scores with and without it are therefore known, and turn the release's score
    into a likelihood ratio. The other candidates have the score of `QueryMembership`, which this attack extends.

    The attack assumes auxiliary people of the same population, and that the attacker can repeat the defense. Over all
    candidates it does not beat `QueryMembership`. On the four releases that are named there, its areas under the curve
    were .81, .76, .65 and .82, and those of the other attack .82, .75, .65 and .82. On private marginals it found 10 %
    of the members at 1 % false positives, not 6 %.

    Parameters
    ----------
    records : int
        Number of vulnerable records, at least 1.
    tables : int
        Number of tables with half of them, at least 4.
    queries, rounds : int
        See `QueryMembership`.

    References
    ----------
    Meeus, Guépin, Creţu and de Montjoye (2023), Achilles' heels: vulnerable record identification in synthetic data
    publishing; Carlini, Chien, Nasr, Song, Terzis and Tramèr (2022), Membership inference attacks from first
    principles, section 5, for the ratio.
    """

    called = ("Achilles' heels", "Vulnerable record identification")

    def __init__(self, *, records: int = 40, tables: int = 16, queries: int = 200, rounds: int = 6) -> None:
        super().__init__(queries=queries, rounds=rounds)
        self.records = check_integer("records", records, low=1)
        self.tables = check_integer("tables", tables, low=4)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker cannot repeat the defense on its people and the candidates.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        evidence = query_evidence(release, knowledge, self.rounds, self.queries, rng)
        vulnerable = most_isolated(knowledge, common_columns(release, knowledge), self.records)
        targets = knowledge.candidates.iloc[vulnerable]
        tables, member = repeated(release, knowledge, targets, self.tables, rng)
        own, *shadows = evidence.tables
        ratios = [
            evidence.queries.log_ratios([keys, *shadows], targets)[0] @ evidence.weights
            for keys in (own, *map(evidence.queries.keys_of, tables))
        ]
        scores = np.array(evidence.scores)
        scores[vulnerable] = with_and_without(ratios[0], np.array(ratios[1:]), member, axis=0)
        return Decisions(scores)


def repeated(
    release: MicrodataRelease, knowledge: Knowledge, targets: pd.DataFrame, count: int, rng: Generator
) -> tuple[list[MicrodataRelease], Booleans]:
    """Repeat the defense on the attacker's people and random halves of some targets.

    Returned are the tables with the release's columns, and who is in which, shape (tables, targets).

    - release: The release under attack, whose number of rows the tables have.
    - count: Number of tables; each target is in half of them.
    """
    own, simulate = knowledge.auxiliary, given(knowledge.simulate, "the attacker does not know the mechanism")
    # Values that the attacker does not know are those of people of its own.
    whole = own.frame.iloc[rng.integers(len(own), size=len(targets))].reset_index(drop=True)
    known = whole.columns.intersection(targets.columns)
    whole[known] = targets[known].reset_index(drop=True).astype(whole[known].dtypes)
    halves = rng.permuted(np.tile(np.arange(count) < count // 2, (len(targets), 1)), axis=1).T
    tables, member = [], []
    for half in halves:
        others = rng.permutation(len(own))[: max(0, len(release.frame) - int(half.sum()))]
        people = pd.concat([own.frame.iloc[others], whole[half]], ignore_index=True)
        try:
            table = simulate(replace(own, frame=people.astype(own.frame.dtypes)), rng)
        except ValueError:
            continue
        if same_columns(table, release, knowledge):
            tables.append(table)
            member.append(half)
    applicable(len(tables) >= 4, "the attacker cannot repeat the defense on people of its own and candidates")
    return tables, np.array(member)
