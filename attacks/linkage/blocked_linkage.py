"""Linkage of large tables by blocking, learned likelihoods and sparse assignment."""

from __future__ import annotations

from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers, applicable
from attacks.linkage.blocks.answers_in_blocks import PAIRS, answers_in_blocks
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likelihood_assignment import LikelihoodAssignment
from defenses.base import MicrodataRelease
from metrics.columns import check_integer


class BlockedLinkage(Attack):
    """Linkage of large tables: blocking on informative columns, learned likelihoods, sparse assignment.

    It extends `ExpectationMaximizationLinkage` to tables of a million rows and a million candidates. At most a million
    pairs are given to that attack, or to `LikelihoodAssignment` if the release has a channel. Larger tables take five
    steps:

    1. A sample of rows is compared with all candidates. Expectation maximization learns from it how the values of each
       column were released: kept, disturbed by Gaussian noise or replaced (`attacks.linkage.blocks.sampled_learning`).
    2. A cell's window holds the values that it covers, or those within two standard deviations of a number with noise.
       A blocking pass proposes the candidates in a row's windows of some columns. Passes are chosen by the recall that
       they add for each pair, until a budget of pairs is spent (`attacks.linkage.blocks.blocking_pass`).
    3. Proposed pairs are scored by their log-likelihood, in chunks. Each row keeps its likeliest twelve candidates
       (`attacks.linkage.blocks.answers_in_blocks`). If the release has a channel, their likelihoods under it count
       instead.
    4. Rows are assigned to different candidates by auction (`attacks.linkage.blocks.auction`), or each by itself if
       several rows seem to stem from one candidate (`attacks.linkage.linkage_answers.several_rows`).
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

    def __init__(self, *, pairs: int = PAIRS, dense: int = 10**6) -> None:
        self.pairs = check_integer("pairs", pairs, low=1)
        self.dense = check_integer("dense", dense, low=0)

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
        applicable(rows, "the release has no row")
        if rows * candidates <= self.dense:
            small = ExpectationMaximizationLinkage() if release.channel is None else LikelihoodAssignment()
            return small.run(release, knowledge, rng)
        return answers_in_blocks(release, knowledge, rng, pairs=self.pairs)
