"""Evidence of membership from the densities that a table implies at people and at its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from attacks.base.attack import Knowledge
from attacks.membership.fitted_kernels import FittedKernels
from attacks.membership.mixture_kernel import log_density, log_kernel, mean_over_rows
from attacks.membership.shadow_syntheses import ShadowSynthesis
from defenses.base.release import MicrodataRelease
from metrics.arrays import Booleans, Floats


@dataclass(frozen=True)
class KernelEvidence:
    """What one table says about some people, and what tables of others say; each array has shape (people,).

    Attributes
    ----------
    near : ndarray of float
        Log-density of the table under the kernel of members.
    smooth : ndarray of float
        Log-density of the table under the kernel of others.
    expected : ndarray of float
        Mean of `smooth` over tables without the person.
    pooled : ndarray of float
        Logarithm of the mean density over these tables.
    local : ndarray of float
        Log-likelihood ratio of the rows with and without the person (`LocalLikelihoodMembership`).
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
    near, smooth = (log_kernel(release, knowledge, weights) for weights in (kernels.member, kernels.other))
    others = np.array([log_density(shadow.table, knowledge, kernels.other) for shadow in shadows])
    rows = mean_over_rows(log_kernel(release, replace(knowledge, candidates=reference), kernels.other).T)
    absent = np.ones(others.shape, dtype=bool)
    return _evidence(near, smooth, others, absent, near - rows[:, None])


def evidence_of_shadows(
    shadows: Sequence[ShadowSynthesis], knowledge: Knowledge, kernels: FittedKernels, member: Booleans
) -> list[KernelEvidence]:
    """Evidence of each shadow synthesis about people of the attacker's own, who also are the reference people.

    Parameters
    ----------
    shadows : sequence of ShadowSynthesis
        At least two tables.
    knowledge : Knowledge
        Its candidates are these people.
    kernels : FittedKernels
        The kernels.
    member : ndarray of bool, shape (shadows, people)
        Who is in which table.
    """
    smooth = [log_kernel(shadow.table, knowledge, kernels.other) for shadow in shadows]
    densities = np.array([mean_over_rows(kernel) for kernel in smooth])
    result = []
    for number, shadow in enumerate(shadows):
        near = log_kernel(shadow.table, knowledge, kernels.member)
        absent = ~member
        absent[number] = False
        # A person who is in all other tables is compared with all of them.
        absent[:, ~absent.any(axis=0)] = True
        # The density of a row without the person who is asked about: the sum over all people, less its own term.
        people = smooth[number].shape[1]
        total = mean_over_rows(smooth[number].T)[:, None] + np.log(people)
        share = np.minimum(np.exp(smooth[number] - total), 1 - 1e-6)
        rows = total + np.log1p(-share) - np.log(max(1, people - 1))
        result.append(_evidence(near, smooth[number], densities, absent, near - rows))
    return result


def _evidence(near: Floats, smooth: Floats, others: Floats, absent: Booleans, ratio: Floats) -> KernelEvidence:
    """Sum up tables over rows and people, and densities of other tables of which `absent` ones count."""
    count = absent.sum(axis=0)
    expected = np.where(absent, others, 0.0).sum(axis=0) / count
    pooled = np.logaddexp.reduce(np.where(absent, others, -np.inf), axis=0) - np.log(count)
    local = np.log1p((np.exp(ratio) - 1) / len(ratio)).sum(axis=0)
    return KernelEvidence(mean_over_rows(near), mean_over_rows(smooth), expected, pooled, local)
