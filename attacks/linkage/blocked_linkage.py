"""Linkage of large tables by blocking, learned likelihoods and sparse assignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Decisions, RankedAnswers
from attacks.base.sides import common_columns
from attacks.linkage.auction import EMPTY, auction
from attacks.linkage.blocked_search import DEPTH, blocked_search
from attacks.linkage.blocking_pass import search_column
from attacks.linkage.blocking_plan import BlockingPlan, blocking_plan
from attacks.linkage.channel_rescoring import under_channel
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likeliest_candidates import LikeliestCandidates
from attacks.linkage.likelihood_assignment import LikelihoodAssignment
from attacks.linkage.noted_answers import NotedAnswers
from attacks.linkage.pair_scores import column_scores
from attacks.linkage.run_coded_column import RunCodedColumn, run_coded_column
from attacks.linkage.sampled_learning import LearnedModels, among_all, learned_models
from attacks.linkage.sparse_matching import sparse_posterior
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats, Integers

# Number of rows up to which each is compared with all candidates, and pairs of the sample where blocking is no use.
FEW_ROWS, SAMPLED_PAIRS = 500, 10**9
# Expected share of rows whose candidate the passes propose, below which only a sample of rows is answered.
LEAST_RECALL = 0.5
# Number of answers of each row.
ANSWERS = 5


@dataclass(frozen=True)
class SearchedAnswers(NotedAnswers):
    """Ranked answers with notes on how candidates were searched.

    Parameters
    ----------
    asked : ndarray of int, optional
        Rows that the answers are about, ascending; None for all.
    """

    asked: Integers | None = None


class BlockedLinkage(Attack):
    """Linkage of large tables: blocking on informative columns, learned likelihoods, sparse assignment.

    It extends `ExpectationMaximizationLinkage` to tables of a million rows and a million candidates. At most a million
    pairs are given to that attack, or to `LikelihoodAssignment` if the release has a channel. Larger tables take five
    steps:

    1. A sample of rows is compared with all candidates. Expectation maximization learns from it how the values of each
       column were released: kept, disturbed by Gaussian noise or replaced (`attacks.linkage.sampled_learning`).
    2. A cell's window holds the values that it covers, or those within two standard deviations of a number with noise.
       A blocking pass proposes the candidates in a row's windows of some columns. Passes are chosen by the recall that
       they add for each pair, until a budget of pairs is spent (`attacks.linkage.blocking_plan`).
    3. Proposed pairs are scored by their log-likelihood, in chunks. Each row keeps its likeliest twelve candidates
       (`attacks.linkage.blocked_search`). If the release has a channel, their likelihoods under it count instead.
    4. Rows are assigned to different candidates by auction (`attacks.linkage.auction`).
    5. Confidences are the marginals of a random matching, by belief propagation on the kept candidates. All other
       candidates of a row count as one, with the likelihood that the models expect
       (`attacks.linkage.sparse_matching.sparse_posterior`).

    If the passes propose the candidate of less than half of the rows, only a random sample of rows is answered. Its
    rows are compared with all candidates.

    Parameters
    ----------
    pairs : int
        Mean number of candidates that a row is compared with; the budget of the passes.
    dense : int
        Number of pairs of row and candidate up to which all of them are compared.

    References
    ----------
    Christen (2012), A survey of indexing techniques for scalable record linkage and deduplication; Michelson and
    Knoblock (2006), Learning blocking schemes for record linkage, for passes that are learned; Winkler (1988), Using
    the EM algorithm for weight computation in the Fellegi-Sunter model.
    """

    def __init__(self, *, pairs: int = 2000, dense: int = 10**6) -> None:
        self.pairs = pairs
        self.dense = dense
        check_integer("pairs", pairs, low=1)
        check_integer("dense", dense, low=0)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Learn, search, score and assign.

        Raises
        ------
        NotApplicable
            If the release has no row.
        ValueError
            If the tables share no column, there is no candidate, or a cell or a value lies outside the column's domain.
        """
        rows, candidates = len(release.frame), len(knowledge.candidates)
        if not rows:
            raise NotApplicable("the release has no row")
        if rows * candidates <= self.dense:
            small = ExpectationMaximizationLinkage() if release.channel is None else LikelihoodAssignment()
            return small.run(release, knowledge, rng)
        names = common_columns(release, knowledge)
        domains = knowledge.domains(names)
        columns = [
            run_coded_column(name, release.frame[name], knowledge.candidates[name], domains[name]) for name in names
        ]
        learned = learned_models(columns, rng)
        asked, near, notes = self._searched(columns, learned, rng)
        if release.channel is not None:
            near = under_channel(near, release, knowledge, np.arange(rows) if asked is None else asked)
        return _answers(near, rows, candidates, asked, tuple(notes))

    def _searched(
        self, columns: list[RunCodedColumn], learned: LearnedModels, rng: Generator
    ) -> tuple[Integers | None, LikeliestCandidates, list[str]]:
        """The rows that are answered, their likeliest candidates, and notes."""
        rows, candidates = columns[0].codes.size, columns[0].values.size
        if rows <= FEW_ROWS:
            near = among_all(learned.models, np.arange(rows), min(DEPTH, candidates))
            return None, near, [f"every row was compared with all {candidates:,} candidates"]
        plan = blocking_plan([search_column(model) for model in learned.models], learned.bits, self.pairs, rng)
        size = max(FEW_ROWS, SAMPLED_PAIRS // candidates)
        if plan.recall < LEAST_RECALL and size < rows:
            asked = np.sort(rng.choice(rows, size, replace=False))
            near = among_all(learned.models, asked, min(DEPTH, candidates))
            return asked, near, [_unsearchable_note(columns, learned.bits, plan, asked.size, rows, self.pairs)]
        others = np.zeros(rows)
        for number, model in enumerate(learned.models):
            if number not in plan.columns:
                mean = np.log(model.mean_parts(np.arange(model.column.cells)).total)
                others += mean[model.column.codes]
        near, pairs = blocked_search(plan, column_scores(learned.models), others)
        return None, near, _search_notes(columns, learned.bits, plan, pairs / rows, candidates)


def _answers(
    near: LikeliestCandidates, rows: int, candidates: int, asked: Integers | None, notes: tuple[str, ...]
) -> SearchedAnswers:
    """Rank each row's candidates: first the assigned one, then the others by posterior.

    If rows outnumber candidates, rows without an assigned candidate are not answered.
    """
    size, depth = near.candidate.shape
    assigned = auction(near.candidate, near.log_likelihood, near.elsewhere, candidates)
    posterior, members = sparse_posterior(near, candidates)
    score = np.where(near.log_likelihood > EMPTY, posterior, -1.0)
    matched = np.flatnonzero(assigned >= 0)
    score[matched, assigned[matched]] += 1.0
    first = np.argsort(-score, axis=1, kind="stable")[:, : min(ANSWERS, depth)]
    score = np.take_along_axis(score, first, axis=1)
    stated = (score >= 0) & ((assigned >= 0) | (size <= candidates))[:, None]
    row, place = np.nonzero(stated)
    column = first[row, place]
    confidence = np.clip(posterior[row, column], 0, 1)
    target = row if asked is None else asked[row]
    answer = near.candidate[row, column].astype(np.intp)
    return SearchedAnswers(
        rows, candidates, target, answer, score[row, place], Decisions(members), confidence, notes, asked
    )


def _search_notes(
    columns: list[RunCodedColumn], bits: Floats, plan: BlockingPlan, pairs: float, candidates: int
) -> list[str]:
    passes = "; ".join(" and ".join(columns[plan.columns[one]].name for one in chosen) for chosen in plan.passes[:3])
    more = f", and {len(plan.passes) - 3} more sets of columns" if len(plan.passes) > 3 else ""
    return [
        f"information of a released cell about the person, learned: {_information(columns, bits)}",
        f"candidates were looked up by {passes}{more}; a row was compared with {pairs:,.0f} of {candidates:,} "
        f"candidates on average, which are expected to include the right one for {plan.recall:.1%} of the rows",
    ]


def _unsearchable_note(
    columns: list[RunCodedColumn], bits: Floats, plan: BlockingPlan, asked: int, rows: int, pairs: int
) -> str:
    return (
        f"answers are about {asked:,} of {rows:,} released rows, drawn at random by --seed: no columns tell enough to "
        f"look candidates up ({_information(columns, bits)}). {pairs:,} candidates a row would include the right one "
        f"for {plan.recall:.1%} of the rows; -p pairs=N compares more"
    )


def _information(columns: list[RunCodedColumn], bits: Floats) -> str:
    order = np.argsort(-bits, kind="stable")
    return ", ".join(f"{columns[column].name} {bits[column]:.1f} bits" for column in order)
