"""Answers about large tables: likeliest candidates in blocks, learned likelihoods and sparse assignment."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from attacks.base import Knowledge, common_columns
from attacks.linkage.blocks.auction import EMPTY, auction
from attacks.linkage.blocks.blocking_pass import (
    BlockingPass,
    BlockingPlan,
    blocking_plan,
    covers,
    members,
    patterns,
    search_column,
)
from attacks.linkage.blocks.pair_scores import ColumnScore, column_scores, total_scores
from attacks.linkage.blocks.run_coded_column import RunCodedColumn, run_coded_column, with_text_errors
from attacks.linkage.blocks.sampled_learning import NOBODY, LearnedModels, among_all, finite_log_sum, learned_models
from attacks.linkage.channel_factors import at_pairs
from attacks.linkage.likeliest_candidates import TIE, LikeliestCandidates
from attacks.linkage.likelihood_assignment import weighted_likelihoods
from attacks.linkage.linkage_answers import SEVERAL, NotedAnswers, several_rows
from attacks.linkage.sparse_matching import answers_of_assignment, posterior_by_row, sparse_posterior
from defenses.base import MicrodataRelease
from metrics.classes import equivalence_classes
from metrics.columns import Booleans, Floats, Integers, chunks

# Likelihoods of a few candidates of every row under the release's channel.

# Pairs whose likelihoods are computed at a time.
CHUNK = 2**18


def under_channel(
    near: LikeliestCandidates, release: MicrodataRelease, knowledge: Knowledge, rows: Integers
) -> LikeliestCandidates:
    """Replace the log-likelihoods of the rows' candidates by those under the release's channel.

    The other candidates of a row keep their share of the row's likelihood, and empty places stay empty. A release that
    discloses no channel raises `NotApplicable`.
    """
    parts = weighted_likelihoods(release, knowledge)
    score = np.empty(near.log_likelihood.shape)
    for chunk in chunks(rows.size, near.candidate.shape[1], CHUNK):
        score[chunk] = at_pairs(parts, rows[chunk][:, None], near.candidate[chunk])
    score = np.where(near.log_likelihood > EMPTY, score, near.log_likelihood)
    elsewhere = near.elsewhere + finite_log_sum(score) - finite_log_sum(near.log_likelihood)
    return LikeliestCandidates(near.candidate, score, np.maximum(elsewhere, 10 * EMPTY))


# Search for the likeliest candidates of every row among those that blocking passes propose.

# Likeliest candidates that are kept of each row, and how far below the likeliest one they may be.
DEPTH, FURTHEST = 12, 9.0
# Pairs and rows of one chunk, and chunks that are searched at the same time.
CHUNK_PAIRS, CHUNK_ROWS, THREADS = 2**20, 8192, 2
# A row is looked up in further passes until it has so many times the pairs of one pass.
MOST_IN_ALL = 2


def blocked_search(
    plan: BlockingPlan, scores: Sequence[ColumnScore], others: Floats
) -> tuple[LikeliestCandidates, int]:
    """Find the likeliest candidates of every row, and count the pairs that were compared.

    Candidates that no pass proposes count as a whole. Their number is estimated for each set of columns whose windows
    hold their values, as if columns were independent.

    - scores: Log-likelihoods by column, which add up.
    - others, shape (rows,): Log of the mean likelihood of a row over all candidates in the columns that no pass uses.
    """
    rows, candidates = plan.search[0].column.codes.size, plan.search[0].column.values.size
    everybody = np.arange(candidates)
    passes = [BlockingPass([plan.search[column] for column in one], everybody) for one in plan.passes]
    step = int(np.clip(CHUNK_PAIRS / max(1.0, plan.pairs), 64, CHUNK_ROWS))
    chunks = [np.arange(start, min(start + step, rows)) for start in range(0, rows, step)]
    depth = min(DEPTH, candidates)
    near = LikeliestCandidates(
        np.zeros((rows, depth), dtype=np.int32), np.full((rows, depth), NOBODY), np.full(rows, NOBODY)
    )
    pairs = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for chunk, (found, compared) in zip(
            chunks, pool.map(lambda chunk: _searched(plan, passes, scores, others, chunk, depth), chunks), strict=True
        ):
            near.candidate[chunk], near.log_likelihood[chunk] = found.candidate, found.log_likelihood
            near.elsewhere[chunk] = found.elsewhere
            pairs += compared
    return near, pairs


def _searched(
    plan: BlockingPlan,
    passes: list[BlockingPass],
    scores: Sequence[ColumnScore],
    others: Floats,
    rows: Integers,
    depth: int,
) -> tuple[LikeliestCandidates, int]:
    """Likeliest candidates of some rows, and the number of pairs that were compared."""
    used = np.zeros((rows.size, len(passes)), dtype=bool)
    spent = np.zeros(rows.size)
    best = np.full(rows.size, -np.inf, dtype=np.float32)
    parts = [(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32))]
    for number, one in enumerate(passes):
        ranges, wide = one.ranges(rows)
        count = np.bincount(ranges.row, weights=ranges.high - ranges.low, minlength=rows.size)
        count[wide] = np.inf
        taken = (count <= plan.most_pairs) & (spent + count <= MOST_IN_ALL * plan.most_pairs)
        used[:, number] = taken
        spent[taken] += count[taken]
        take = taken[ranges.row]
        row, position = members(type(ranges)(ranges.row[take], ranges.low[take], ranges.high[take]))
        if not row.size:
            continue
        candidate = np.take(one.order, position)
        score = total_scores(scores, row + rows[0], candidate)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        best[row[starts]] = np.maximum(best[row[starts]], np.maximum.reduceat(score, starts))
        near = np.flatnonzero(score >= np.take(best, row) - FURTHEST)
        parts.append((row[near], candidate[near], score[near]))
    row, candidate, score = map(np.concatenate, zip(*parts, strict=True))
    near = np.flatnonzero(score >= best[row] - FURTHEST)
    row, candidate, score = row[near], candidate[near], score[near]
    _, first = np.unique(row * (np.int64(2) ** 32) + candidate, return_index=True)
    row, candidate, score = row[first], candidate[first], score[first]
    order = np.lexsort((-score - TIE * _mixed(rows[row], candidate), row))
    row, candidate, score = row[order], candidate[order], score[order]
    rank = np.arange(row.size) - np.searchsorted(row, row)
    listed = rank < depth
    result = np.zeros((rows.size, depth), dtype=np.int32)
    likelihood = np.full((rows.size, depth), NOBODY)
    result[row[listed], rank[listed]] = candidate[listed]
    likelihood[row[listed], rank[listed]] = score[listed]
    beyond = np.bincount(row[~listed], weights=np.exp(score[~listed] - best[row[~listed]]), minlength=rows.size)
    with np.errstate(divide="ignore"):
        beyond = np.log(beyond) + np.where(np.isfinite(best), best, 0.0)
    elsewhere = np.logaddexp(np.maximum(beyond, NOBODY), _unsearched(plan, used, rows) + others[rows])
    return LikeliestCandidates(result, likelihood, elsewhere), int(spent.sum())


def _mixed(rows: Integers, candidates: Integers) -> Floats:
    """Numbers in [0, 1) that look random, one for each pair, to break ties; the same on any number of threads."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ candidates.astype(np.uint64) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed >> np.uint64(40)) / 2.0**24)


def _unsearched(plan: BlockingPlan, used: Booleans, rows: Integers) -> Floats:
    """Log of the expected likelihood of all candidates that no pass proposes, in the plan's columns, shape (rows,)."""
    inner = np.column_stack([column.inner[column.column.codes[rows]] for column in plan.search])
    outer = np.column_stack([column.outer[column.column.codes[rows]] for column in plan.search])
    table = patterns(len(plan.columns))
    covered = covers(plan.passes, table)
    candidates = plan.search[0].column.values.size
    result = np.full(rows.size, NOBODY)
    kinds, kind = np.unique(used, axis=0, return_inverse=True)
    for number, passes in enumerate(kinds):
        missed = ~covered[passes].any(axis=0)
        if missed.any():
            some = np.flatnonzero(kind.ravel() == number)
            log = inner[some] @ table[missed].T + outer[some] @ (~table[missed]).T
            result[some] = finite_log_sum(log) + np.log(candidates)
    return result


# Number of rows up to which each is compared with all candidates, and pairs of the sample where blocking is no use.
FEW_ROWS, SAMPLED_PAIRS = 500, 10**9
# Expected share of rows whose candidate the passes propose, below which only a sample of rows is answered.
LEAST_RECALL = 0.5
# Number of answers of each row, and mean number of candidates that a row is compared with.
ANSWERS, PAIRS = 5, 2000


@dataclass(frozen=True)
class SearchedAnswers(NotedAnswers):
    """Ranked answers with notes on how candidates were searched.

    - asked: Rows that the answers are about, ascending; None for all.
    """

    asked: Integers | None = None


def answers_in_blocks(
    release: MicrodataRelease, knowledge: Knowledge, rng: Generator, *, pairs: int = PAIRS, one_to_one: bool = True
) -> SearchedAnswers:
    """Learn, search, score and assign, in the steps of `attacks.linkage.blocked_linkage.BlockedLinkage`.

    - pairs: Mean number of candidates that a row is compared with; the budget of the passes.
    - one_to_one: Whether rows are assigned to different candidates. Otherwise each row names its most probable one.
    """
    rows, candidates = len(release.frame), len(knowledge.candidates)
    names = common_columns(release, knowledge)
    domains = knowledge.domains(names)
    columns = [run_coded_column(name, release.frame[name], knowledge.candidates[name], domains[name]) for name in names]
    columns = with_text_errors(columns, domains)
    learned = learned_models(columns, rng)
    asked, near, notes = _near_in_blocks(columns, learned, pairs, rng)
    if release.channel is not None:
        near = under_channel(near, release, knowledge, np.arange(rows) if asked is None else asked)
    groups = partial(equivalence_classes, release.frame if asked is None else release.frame.iloc[asked], names)
    posterior = posterior_by_row(near, candidates)
    several = several_rows(posterior[0], near.candidate, candidates, groups)
    assigned = None
    if several:
        notes.append(SEVERAL)
    else:
        posterior = sparse_posterior(near, candidates)
        if one_to_one:
            assigned = auction(near.candidate, near.log_likelihood, near.elsewhere, candidates)
    claims = answers_of_assignment(near, assigned, posterior, ANSWERS)
    target = claims.target if asked is None else asked[claims.target]
    of_rows = {**vars(claims), "targets": rows, "target": target}
    return SearchedAnswers(**of_rows, notes=tuple(notes), several=several, asked=asked)


def _near_in_blocks(
    columns: list[RunCodedColumn], learned: LearnedModels, pairs: int, rng: Generator
) -> tuple[Integers | None, LikeliestCandidates, list[str]]:
    """The rows that are answered, their likeliest candidates, and notes."""
    rows, candidates = columns[0].codes.size, columns[0].values.size
    if rows <= FEW_ROWS:
        near = among_all(learned.models, np.arange(rows), min(DEPTH, candidates))
        return None, near, [f"every row was compared with all {candidates:,} candidates"]
    plan = blocking_plan([search_column(model) for model in learned.models], learned.bits, pairs, rng)
    size = max(FEW_ROWS, SAMPLED_PAIRS // candidates)
    if plan.recall < LEAST_RECALL and size < rows:
        asked = np.sort(rng.choice(rows, size, replace=False))
        near = among_all(learned.models, asked, min(DEPTH, candidates))
        return asked, near, [_unsearchable_note(columns, learned.bits, plan, asked.size, rows, pairs)]
    unblocked = [model for number, model in enumerate(learned.models) if number not in plan.columns]
    means = (np.log(model.mean_parts(np.arange(model.column.cells)).total)[model.column.codes] for model in unblocked)
    others = sum(means, np.zeros(rows))
    near, compared = blocked_search(plan, column_scores(learned.models), others)
    return None, near, _search_notes(columns, learned.bits, plan, compared / rows, candidates)


def _search_notes(
    columns: list[RunCodedColumn], bits: Floats, plan: BlockingPlan, pairs: float, candidates: int
) -> list[str]:
    passes = "; ".join(" and ".join(columns[plan.columns[one]].name for one in chosen) for chosen in plan.passes[:3])
    more = f", and {len(plan.passes) - 3} more sets of columns" if len(plan.passes) > 3 else ""
    texts = [
        f"{column.name}: about {column.errors.recall:.1%} of the nearly equal texts were found, by keys that they share"
        for column in columns
        if column.errors is not None and column.errors.recall < 1
    ]
    return [
        f"information of a released cell about the person, learned: {_information(columns, bits)}",
        f"candidates were looked up by {passes}{more}; a row was compared with {pairs:,.0f} of {candidates:,} "
        f"candidates on average, which are expected to include the right one for {plan.recall:.1%} of the rows",
        *texts,
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
    return ", ".join(f"{columns[one].name} {bits[one]:.1f} bits" for one in np.argsort(-bits, kind="stable"))
