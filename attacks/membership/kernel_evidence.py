"""Evidence of membership from the densities that a table implies at people and at its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from attacks.base import Knowledge
from attacks.membership.fitted_kernels import FittedKernels
from attacks.membership.mixture_kernel import log_density, log_kernel, log_kernels, mean_over_rows
from attacks.membership.reference_tables import ShadowSynthesis
from defenses.base import MicrodataRelease
from metrics.columns import Booleans, Floats, Singles

# Largest exponent in single precision, with room for sums.
LARGEST_EXPONENT = np.float32(60.0)


@dataclass(frozen=True)
class KernelEvidence:
    """What one table says about some people, and what tables of others say; each array has shape (people,).

    - near: Log-density of the table under the kernel of members.
    - smooth: Log-density of the table under the kernel of others.
    - expected: Mean of `smooth` over tables without the person.
    - pooled: Logarithm of the mean density over these tables.
    - local: Log-likelihood ratio of the rows with and without the person (`LocalLikelihoodMembership`).
    """

    near: Floats
    smooth: Floats
    expected: Floats
    pooled: Floats
    local: Floats


def evidence_of_release(
    release: MicrodataRelease,
    shadows: Sequence[ShadowSynthesis],
    knowledge: Knowledge,
    kernels: FittedKernels,
    reference: pd.DataFrame,
) -> KernelEvidence:
    """Evidence of the release about the candidates; `reference` are the people of whom rows' density is estimated."""
    populations = kernels.populations
    near, smooth = log_kernels(release, knowledge, (kernels.member, kernels.other), populations)
    others = np.array([log_density(shadow.table, knowledge, kernels.other, populations) for shadow in shadows])
    people = replace(knowledge, candidates=reference)
    rows = mean_over_rows(log_kernel(release, people, kernels.other, populations).T).astype(np.float32)
    absent = np.ones(others.shape, dtype=bool)
    return _evidence(near, mean_over_rows(smooth), others, absent, near - rows[:, None])


def evidence_of_shadows(
    shadows: Sequence[ShadowSynthesis], knowledge: Knowledge, kernels: FittedKernels, member: Booleans
) -> list[KernelEvidence]:
    """Evidence of each of at least two shadow syntheses about the attacker's people, who are also the reference people.

    The candidates of `knowledge` are these people, and `member`, shape (shadows, people), says who is in which table.
    """
    both = [
        log_kernels(shadow.table, knowledge, (kernels.member, kernels.other), kernels.populations) for shadow in shadows
    ]
    densities = np.array([mean_over_rows(smooth) for _, smooth in both])
    result = []
    for number, (near, smooth) in enumerate(both):
        absent = ~member
        absent[number] = False
        # A person who is in all other tables is compared with all of them.
        absent[:, ~absent.any(axis=0)] = True
        # The density of a row without the person who is asked about: the sum over all people, less its own term.
        people = smooth.shape[1]
        total = (mean_over_rows(smooth.T)[:, None] + np.log(people)).astype(np.float32)
        share = np.minimum(np.exp(smooth - total), np.float32(1 - 1e-6))
        rows = total + np.log1p(-share) - np.float32(np.log(max(1, people - 1)))
        result.append(_evidence(near, densities[number], densities, absent, near - rows))
    return result


def local_ratio(ratio: Singles) -> Floats:
    """Log-likelihood ratio of the rows with and without each person, shape (people,).

    - ratio, shape (rows, people): Log of each row's density if it stems from the person, less that of the reference
      people; overwritten.
    """
    # Above the largest exponent, the logarithm of one more term is the exponent itself.
    beyond = np.maximum(ratio - LARGEST_EXPONENT, 0.0)
    ratio -= beyond
    np.expm1(ratio, out=ratio)
    ratio /= len(ratio)
    np.log1p(ratio, out=ratio)
    ratio += beyond
    return np.asarray(np.ones(len(ratio), dtype=np.float32) @ ratio, dtype=float)


def _evidence(near: Singles, smooth: Floats, others: Floats, absent: Booleans, ratio: Singles) -> KernelEvidence:
    """Sum up tables over rows and people, and densities of other tables of which `absent` ones count."""
    count = absent.sum(axis=0)
    expected = np.where(absent, others, 0.0).sum(axis=0) / count
    pooled = np.logaddexp.reduce(np.where(absent, others, -np.inf), axis=0) - np.log(count)
    return KernelEvidence(mean_over_rows(near), smooth, expected, pooled, local_ratio(ratio))
