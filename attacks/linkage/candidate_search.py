"""The likeliest candidates of every released row, without comparing all pairs of large tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.linkage.channel_factors import Factor, Places, TableFactor, at_pairs, coded, total
from defenses.base.channel_parts import Likelihood
from metrics.arrays import Floats, Integers

# Candidates that a row is compared with, and how many of them are kept.
COMPARED, KEPT = 20_000, 40
# Candidates of one block, on average.
MEMBERS = 200
# Rows compared at once, with all candidates or with those of their blocks.
CHUNK, BLOCK_CHUNK = 128, 10_000
# Groups of cells and passes over a sample with which candidates are sorted into blocks.
GROUPS, PASSES, SAMPLE = 24, 4, 20_000
# Log-likelihoods that differ by less count as equal while candidates are looked for.
TIE = 1e-3


@dataclass(frozen=True)
class Near:
    """The likeliest candidates of every row.

    Attributes
    ----------
    candidate : ndarray of int, shape (rows, kept)
        Their positions, each once in a row.
    log_likelihood : ndarray of float, shape (rows, kept)
        How likely the row is under each.
    elsewhere : ndarray of float, shape (rows,)
        Log of the likelihoods of all other candidates added up, an estimate where they were not compared.
    """

    candidate: Places | Integers
    log_likelihood: Floats
    elsewhere: Floats


def search(likelihoods: Sequence[Likelihood], rows: int, candidates: int, rng: Generator) -> Near:
    """Find the likeliest candidates of every row.

    Up to 20,000 candidates every row is compared with each of them. More are sorted into blocks of about 200 that the
    mechanism releases alike, and a row is compared with those of the blocks that it most probably stems from, 20,000
    candidates in all: the probability of a block is its size times the product over columns of the mean likelihood of
    the row's cell under the block's values.

    Parameters
    ----------
    likelihoods : sequence of Likelihood
        Parts of a channel; they add up.
    rows, candidates : int
        How many there are.
    rng : Generator
        Draws the sample by which candidates are sorted.
    """
    factors = [coded(likelihood) for likelihood in likelihoods]
    kept = min(KEPT, candidates)
    look = _all if candidates <= COMPARED else _best_blocks
    found, elsewhere = look(factors, rows, candidates, kept, rng)
    return Near(found, at_pairs(likelihoods, np.arange(rows)[:, None], found), elsewhere)


def _all(factors: Sequence[Factor], rows: int, candidates: int, kept: int, rng: Generator) -> tuple[Places, Floats]:
    everybody = np.arange(candidates)
    found = np.empty((rows, kept), dtype=np.int32)
    mass = np.empty(rows)
    for start in range(0, rows, CHUNK):
        chunk = np.arange(start, min(start + CHUNK, rows))
        scores = _weighed(factors, chunk, everybody, rng)
        found[chunk] = np.argpartition(scores, candidates - kept, axis=1)[:, candidates - kept :]
        np.put_along_axis(scores, found[chunk], -np.inf, axis=1)
        mass[chunk] = _log_sum(scores)
    return found, mass


def _best_blocks(
    factors: Sequence[Factor], rows: int, candidates: int, kept: int, rng: Generator
) -> tuple[Places, Floats]:
    tables = [factor for factor in factors if isinstance(factor, TableFactor)]
    block = sorted_into_blocks(tables, candidates, rng)
    size = np.bincount(block)
    members = np.split(np.argsort(block, kind="stable"), np.cumsum(size)[:-1])
    visited = min(size.size, max(1, COMPARED * size.size // candidates))
    shares = [_mean_likelihood(factor, block, size) for factor in tables]
    found = np.empty((rows, kept), dtype=np.int32)
    mass = np.empty(rows)
    for start in range(0, rows, BLOCK_CHUNK):
        chunk = np.arange(start, min(start + BLOCK_CHUNK, rows))
        probable = np.broadcast_to(np.log(size).astype(np.float32), (chunk.size, size.size)).copy()
        for factor, share in zip(tables, shares, strict=True):
            probable += share[factor.cells[chunk]]
        first = np.argpartition(probable, size.size - visited, axis=1)[:, size.size - visited :]
        np.put_along_axis(probable, first, -np.inf, axis=1)
        unseen = _log_sum(probable)
        # The blocks of each row in turn, turned into the rows of each block.
        order = np.argsort(first.ravel(), kind="stable")
        bounds = np.searchsorted(first.ravel()[order], np.arange(size.size + 1))
        width = min(kept, int(size.max()))
        best = np.full((chunk.size * visited, width), -np.inf, dtype=np.float32)
        who = np.zeros((chunk.size * visited, width), dtype=np.int32)
        seen = np.full(chunk.size * visited, -np.inf)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            visits = order[bounds[number] : bounds[number + 1]]
            group = members[number]
            scores = _weighed(factors, chunk[visits // visited], group, rng)
            take = min(width, group.size)
            top = np.argpartition(scores, group.size - take, axis=1)[:, group.size - take :]
            best[visits, :take] = np.take_along_axis(scores, top, axis=1)
            who[visits, :take] = group[top]
            np.put_along_axis(scores, top, -np.inf, axis=1)
            seen[visits] = _log_sum(scores)
        best, who = best.reshape(chunk.size, -1), who.reshape(chunk.size, -1)
        top = np.argpartition(best, best.shape[1] - kept, axis=1)[:, best.shape[1] - kept :]
        found[chunk] = np.take_along_axis(who, top, axis=1)
        np.put_along_axis(best, top, -np.inf, axis=1)
        rest = np.logaddexp(_log_sum(best), np.logaddexp.reduce(seen.reshape(chunk.size, -1), axis=1))
        mass[chunk] = np.logaddexp(rest, unseen)
    return found, mass


def _weighed(factors: Sequence[Factor], rows: Integers, candidates: Integers, rng: Generator) -> NDArray[np.float32]:
    """Log-likelihoods of a block of pairs; of equal ones random ones are larger, or else all rows kept the same."""
    scores = total(factors, rows, candidates)
    scores += TIE * rng.random(scores.shape, dtype=np.float32)
    return scores


def sorted_into_blocks(factors: Sequence[TableFactor], candidates: int, rng: Generator) -> Integers:
    """Sort candidates into blocks of about 200 that the mechanism releases alike, shape (candidates,).

    A candidate is described, column by column, by the square roots of the probabilities with which its value is
    released as one of some groups of cells; blocks are those of k-means, whose squared distance is then, up to a
    factor, the sum over columns of Hellinger's. A column that the mechanism effaces thus tells nobody apart.

    References
    ----------
    Jegou, Douze and Schmid (2011), Product quantization for nearest neighbor search, section 4, for inverted lists.
    """
    count = max(1, candidates // MEMBERS)
    profiles = [_profile(factor) for factor in factors]
    sample = rng.permutation(candidates)[: max(SAMPLE, 4 * count)]

    def described(people: Integers) -> NDArray[np.float32]:
        return np.hstack([profile[factor.values[people]] for profile, factor in zip(profiles, factors, strict=True)])

    points = described(sample)
    centres = points[:count]
    for _ in range(PASSES):
        nearest = _nearest(points, centres)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, points)
        filled = np.bincount(nearest, minlength=count)
        centres = np.where(filled[:, None] > 0, sums / np.maximum(filled, 1)[:, None], centres)
    block = np.concatenate(
        [
            _nearest(described(np.arange(start, min(start + SAMPLE, candidates))), centres)
            for start in range(0, candidates, SAMPLE)
        ]
    )
    # Many people who are alike would make one huge block.
    order = np.argsort(block, kind="stable")
    rank = np.empty(candidates, dtype=np.intp)
    rank[order] = np.arange(candidates) - np.searchsorted(block[order], block[order])
    return np.unique(block * candidates + rank // (2 * MEMBERS), return_inverse=True)[1]


def _nearest(points: NDArray[np.float32], centres: NDArray[np.float32]) -> Integers:
    length = (centres**2).sum(axis=1) / 2
    return np.concatenate(
        [(points[start : start + 2000] @ centres.T - length).argmax(axis=1) for start in range(0, len(points), 2000)]
    )


def _profile(factor: TableFactor) -> NDArray[np.float32]:
    """Square roots of the probabilities of groups of cells, shape (values, groups)."""
    likelihood = np.exp(factor.table - factor.table.max())
    starts = np.unique(np.linspace(0, len(likelihood), GROUPS + 1).astype(int)[:-1])
    mass = np.add.reduceat(likelihood, starts, axis=0).T
    return np.asarray(np.sqrt(mass / np.maximum(mass.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)))


def _mean_likelihood(factor: TableFactor, block: Integers, size: Integers) -> NDArray[np.float32]:
    """Log of the mean likelihood of each cell over the values of each block, shape (cells, blocks)."""
    share = np.zeros((factor.table.shape[1], size.size), dtype=np.float32)
    np.add.at(share, (factor.values, block), 1.0)
    share /= size
    highest = factor.table.max(axis=1, keepdims=True)
    mean = np.exp(factor.table - highest) @ share
    return np.asarray(np.log(np.maximum(mean, 1e-30)) + highest, dtype=np.float32)


def _log_sum(scores: NDArray[np.float32] | Floats) -> Floats:
    """Log of the exponentials of each row added up; -inf where a row has none."""
    highest = scores.max(axis=1, keepdims=True, initial=-1e30)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - highest).sum(axis=1)) + highest[:, 0], dtype=float)
