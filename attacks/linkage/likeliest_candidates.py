"""Search for the likeliest candidates of every released row, by blocking where the tables are large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from attacks.linkage.channel_factors import Factor, TableFactor, at_pairs, coded, total
from defenses.base.channel_parts import Likelihood
from metrics.classes import ranks_in_groups
from metrics.columns import Array, Floats, Integers, Integers32, Singles, chunks, group_sums

# Candidates that each row is compared with, and how many of the likeliest are returned.
COMPARED, DEPTH = 20_000, 40
# Mean number of candidates in a block.
BLOCK_SIZE = 200
# Rows of one chunk, where rows are compared with all candidates and where with some blocks.
CHUNK, BLOCK_CHUNK = 128, 10_000
# For the clustering of candidates into blocks: groups of cells, passes of k-means, and sample size.
GROUPS, PASSES, SAMPLE = 24, 4, 20_000
# The search treats log-likelihoods that differ by less as equal.
TIE = 1e-3
# Pairs of row and candidate up to which an attack holds a table of all of them, and pairs of one chunk beyond.
TABLE, CHUNK_PAIRS = 5 * 10**6, 2**20


@dataclass(frozen=True)
class LikeliestCandidates:
    """The likeliest candidates of every row.

    - candidate, shape (rows, depth): Positions of the candidates, all different within a row.
    - log_likelihood, shape (rows, depth): Log-likelihood of the row under each of them.
    - elsewhere, shape (rows,): Log of the sum of the likelihoods of all other candidates. It is estimated for
      candidates in other blocks.
    """

    candidate: Integers32 | Integers
    log_likelihood: Floats
    elsewhere: Floats


def search(likelihoods: Sequence[Likelihood], rows: int, candidates: int, rng: Generator) -> LikeliestCandidates:
    """Find the likeliest candidates of every row.

    Each row is compared with all candidates if there are at most 20,000. Otherwise the candidates are clustered into
    blocks of about 200 with similar released cells (`sorted_into_blocks`). A row is then compared with the candidates
    of its most probable blocks, about 20,000 in all. The probability of a block is proportional to its size times a
    product over columns. Its factors are the mean likelihoods of the row's cell under the block's values. The
    log-likelihoods of a channel's parts add up.
    """
    factors = [coded(likelihood) for likelihood in likelihoods]
    depth = min(DEPTH, candidates)
    method = _among_all if candidates <= COMPARED else _in_best_blocks
    likeliest, elsewhere = method(factors, rows, candidates, depth, rng)
    return LikeliestCandidates(likeliest, at_pairs(likelihoods, np.arange(rows)[:, None], likeliest), elsewhere)


def _among_all(
    factors: Sequence[Factor], rows: int, candidates: int, depth: int, rng: Generator
) -> tuple[Integers32 | Integers, Floats]:
    """Likeliest candidates, shape (rows, depth), and the log of the sum of the others' likelihoods, shape (rows,)."""
    everybody = np.arange(candidates)
    near = likeliest_of_all(lambda chunk: total(factors, chunk, everybody), rows, candidates, rng, CHUNK)
    return near.candidate[:, :depth], near.elsewhere


def likeliest_of_all(
    scores: Callable[[Integers], Array],
    rows: int,
    candidates: int,
    rng: Generator | None,
    step: int | None = None,
    most: int = DEPTH,
) -> LikeliestCandidates:
    """Compare every row with all candidates, chunk by chunk, and keep its likeliest ones.

    - scores: Gives the log-likelihood of the rows at some positions under each candidate, shape (chunk, candidates).
    - rng: Breaks ties; None where these do not matter.
    - step: Rows of one chunk; by default so many that they make a million pairs.
    - most: Largest number of candidates that are kept of each row.
    """
    depth = min(most, candidates)
    likeliest, elsewhere = np.empty((rows, depth), dtype=np.int32), np.empty(rows)
    score = np.empty((rows, depth))
    for part in chunks(rows, 1, step or CHUNK_PAIRS // candidates):
        chunk = np.arange(part.start, part.stop)
        table = scores(chunk).astype(np.float32, copy=False)
        table = table if rng is None else _without_ties(table, rng)
        likeliest[chunk], score[chunk], elsewhere[chunk] = set_apart(table, depth)
    return LikeliestCandidates(likeliest, score, elsewhere)


def _in_best_blocks(
    factors: Sequence[Factor], rows: int, candidates: int, depth: int, rng: Generator
) -> tuple[Integers32, Floats]:
    """As `_among_all`, with each row compared with its most probable blocks only."""
    tables = [factor for factor in factors if isinstance(factor, TableFactor)]
    block = sorted_into_blocks(tables, candidates, rng)
    size = np.bincount(block)
    members = np.split(np.argsort(block, kind="stable"), np.cumsum(size)[:-1])
    visited = min(size.size, max(1, COMPARED * size.size // candidates))
    shares = [_mean_likelihood(factor, block, size) for factor in tables]
    likeliest = np.empty((rows, depth), dtype=np.int32)
    rest_mass = np.empty(rows)
    for part in chunks(rows, 1, BLOCK_CHUNK):
        chunk = np.arange(part.start, part.stop)
        probable = np.broadcast_to(np.log(size).astype(np.float32), (chunk.size, size.size)).copy()
        for factor, share in zip(tables, shares, strict=True):
            probable += share[factor.cells[chunk]]
        first, _, other_blocks = set_apart(probable, visited)
        # Regroup the pairs of row and block by block, so that each block is scored once a chunk.
        order = np.argsort(first.ravel(), kind="stable")
        bounds = np.searchsorted(first.ravel()[order], np.arange(size.size + 1))
        width = min(depth, int(size.max()))
        best = np.full((chunk.size * visited, width), -np.inf, dtype=np.float32)
        owner = np.zeros((chunk.size * visited, width), dtype=np.int32)
        visited_rest = np.full(chunk.size * visited, -np.inf)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            visits = order[bounds[number] : bounds[number + 1]]
            group = members[number]
            scores = _without_ties(total(factors, chunk[visits // visited], group), rng)
            take = min(width, group.size)
            top, best[visits, :take], visited_rest[visits] = set_apart(scores, take)
            owner[visits, :take] = group[top]
        best, owner = best.reshape(chunk.size, -1), owner.reshape(chunk.size, -1)
        top, _, rest = set_apart(best, depth)
        likeliest[chunk] = np.take_along_axis(owner, top, axis=1)
        rest = np.logaddexp(rest, np.logaddexp.reduce(visited_rest.reshape(chunk.size, -1), axis=1))
        rest_mass[chunk] = np.logaddexp(rest, other_blocks)
    return likeliest, rest_mass


def _without_ties(scores: Singles, rng: Generator) -> Singles:
    """Break ties at random in place: without it, all rows would get the same ones of many equal candidates."""
    scores += TIE * rng.random(scores.shape, dtype=np.float32)
    return scores


def sorted_into_blocks(factors: Sequence[TableFactor], candidates: int, rng: Generator) -> Integers:
    """Cluster candidates into blocks of about 200 with similar distributions of released cells, shape (candidates,).

    Released cells are grouped in each column. A candidate's features are the square roots of the probabilities of these
    groups under its value, for all columns. Blocks are the clusters of k-means. Its squared distance is, up to a
    factor, the sum over columns of the squared Hellinger distances. A column that the mechanism makes uniform therefore
    does not influence the blocks.

    Source: Jegou, Douze and Schmid (2011), Product quantization for nearest neighbor search, section 4, for inverted
    lists.
    """
    count = max(1, candidates // BLOCK_SIZE)
    profiles = [_profile(factor) for factor in factors]
    sample = rng.permutation(candidates)[: max(SAMPLE, 4 * count)]

    def features(people: Integers) -> Singles:
        return np.hstack([profile[factor.values[people]] for profile, factor in zip(profiles, factors, strict=True)])

    points = features(sample)
    centres = points[:count]
    for _ in range(PASSES):
        nearest = _nearest(points, centres)
        sums = group_sums(nearest, points, count)
        filled = np.bincount(nearest, minlength=count)
        centres = np.where(filled[:, None] > 0, sums / np.maximum(filled, 1)[:, None], centres)
    block = np.concatenate(
        [
            _nearest(features(np.arange(start, min(start + SAMPLE, candidates))), centres)
            for start in range(0, candidates, SAMPLE)
        ]
    )
    # Many equal candidates would make one huge block, which is therefore split.
    return np.unique(block * candidates + ranks_in_groups(block) // (2 * BLOCK_SIZE), return_inverse=True)[1]


def _nearest(points: Singles, centres: Singles) -> Integers:
    """Nearest centre of each point, shape (points,)."""
    length = (centres**2).sum(axis=1) / 2
    return np.concatenate(
        [(points[start : start + 2000] @ centres.T - length).argmax(axis=1) for start in range(0, len(points), 2000)]
    )


def _profile(factor: TableFactor) -> Singles:
    """Square roots of the probabilities of groups of cells, shape (values, groups)."""
    likelihood = np.exp(factor.table - factor.table.max())
    starts = np.unique(np.linspace(0, len(likelihood), GROUPS + 1).astype(int)[:-1])
    mass = np.add.reduceat(likelihood, starts, axis=0).T
    return np.asarray(np.sqrt(mass / np.maximum(mass.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)))


def _mean_likelihood(factor: TableFactor, block: Integers, size: Integers) -> Singles:
    """Log of the mean likelihood of each cell over the values of each block, shape (cells, blocks)."""
    share = np.zeros((factor.table.shape[1], size.size), dtype=np.float32)
    np.add.at(share, (factor.values, block), 1.0)
    share /= size
    highest = factor.table.max(axis=1, keepdims=True)
    mean = np.exp(factor.table - highest) @ share
    return np.asarray(np.log(np.maximum(mean, 1e-30)) + highest, dtype=np.float32)


def set_apart(scores: Singles, depth: int) -> tuple[Integers, Singles, Floats]:
    """Positions and values of the largest scores of each row, shape (rows, depth), and the log-sum-exp of the others.

    The largest scores are overwritten.
    """
    places = np.argpartition(scores, scores.shape[1] - depth, axis=1)[:, scores.shape[1] - depth :]
    largest = np.take_along_axis(scores, places, axis=1)
    np.put_along_axis(scores, places, -np.inf, axis=1)
    return places, largest, log_sum(scores)


def log_sum(scores: Singles | Floats) -> Floats:
    """Log-sum-exp of each row, shape (rows,); -inf for a row without entries."""
    highest = scores.max(axis=1, keepdims=True, initial=-1e30)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - highest).sum(axis=1)) + highest[:, 0], dtype=float)
