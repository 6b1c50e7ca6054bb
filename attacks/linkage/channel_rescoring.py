"""Likelihoods of a few candidates of every row under the release's channel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.base.attack import Knowledge, disclosed_channel
from attacks.base.sides import common_columns
from attacks.linkage.auction import EMPTY
from attacks.linkage.channel_factors import at_pairs
from attacks.linkage.channel_likelihoods import channel_likelihoods
from attacks.linkage.likeliest_candidates import LikeliestCandidates
from attacks.linkage.likelihood_assignment import GROUPED
from attacks.linkage.sampled_learning import log_sum
from defenses.base.channel_parts import GroupMean, GroupMode, Likelihood
from defenses.base.release import MicrodataRelease
from metrics.arrays import Integers

# Pairs whose likelihoods are computed at a time.
CHUNK = 2**18


def under_channel(
    near: LikeliestCandidates, release: MicrodataRelease, knowledge: Knowledge, rows: Integers
) -> LikeliestCandidates:
    """Replace the log-likelihoods of candidates by those under the release's channel.

    The other candidates of a row keep their share of the row's likelihood.

    Parameters
    ----------
    near : LikeliestCandidates
        Candidates of the rows; empty places have log-likelihoods below `EMPTY` and stay empty.
    release, knowledge : MicrodataRelease, Knowledge
        The release, which discloses a channel, and the attacker's knowledge.
    rows : ndarray of int, shape (targets,)
        Positions of the rows.

    Raises
    ------
    NotApplicable
        If the release discloses no channel.
    """
    parts = _parts(release, knowledge)
    score = np.empty(near.log_likelihood.shape)
    step = max(1, CHUNK // near.candidate.shape[1])
    for start in range(0, rows.size, step):
        chunk = slice(start, start + step)
        score[chunk] = at_pairs(parts, rows[chunk][:, None], near.candidate[chunk])
    score = np.where(near.log_likelihood > EMPTY, score, near.log_likelihood)
    elsewhere = near.elsewhere + log_sum(score) - log_sum(near.log_likelihood)
    return LikeliestCandidates(near.candidate, score, np.maximum(elsewhere, 10 * EMPTY))


def _parts(release: MicrodataRelease, knowledge: Knowledge) -> list[Likelihood]:
    """The channel's likelihoods; those of groups count by half, as in `LikelihoodAssignment`."""
    channel = disclosed_channel(release.channel)
    domains = knowledge.domains(common_columns(release, knowledge))
    grouped = {part.columns for part in channel.parts if isinstance(part, GroupMean | GroupMode)}
    parts = channel_likelihoods(channel, release.frame, knowledge.candidates, domains)
    return [_weakened(part) if columns in grouped else part for columns, part in parts.items()]


def _weakened(part: Likelihood) -> Likelihood:
    return replace(part, kernel=lambda *sides: GROUPED * part.kernel(*sides))
