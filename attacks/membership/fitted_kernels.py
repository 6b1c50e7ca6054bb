"""Kernels of a release, fitted to members of a table and to people outside it."""

from __future__ import annotations

from dataclasses import dataclass

from attacks.base import Knowledge
from attacks.membership.mixture_kernel import Populations, Weights, fitted_weights
from attacks.membership.reference_tables import evenly_spaced, shadow_syntheses
from defenses.base import MicrodataRelease

# Shadow syntheses, and people of each kind in each, to which kernels are fitted.
TABLES, PEOPLE = 2, 150


@dataclass(frozen=True)
class FittedKernels:
    """Weights of the mixture kernel (`attacks.membership.mixture_kernel`) for two kinds of people.

    - member: For people in a table: how closely its rows follow its members.
    - other: For people outside it: how smooth a density of the population its rows give.
    """

    member: Weights
    other: Weights
    populations: Populations


def fitted_kernels(release: MicrodataRelease, knowledge: Knowledge) -> FittedKernels:
    """Fit both kernels to shadow syntheses, once for all attacks on a release.

    Where the attacker cannot repeat the defense, the kernel of members is fitted to the release and the candidates, of
    whom some are members. The kernel of others is then fitted to the release and the auxiliary people. A ValueError is
    raised if release and candidates share no column, or if a cell or a value lies outside the column's domain.
    """
    key = "fitted kernels", *map(str, knowledge.candidates.columns)
    past = release.shared.simulations.get(key)
    if past is not None and past[0] is knowledge.auxiliary and past[1] == knowledge.simulate:
        kernels: FittedKernels = past[2]
        return kernels
    people = knowledge.auxiliary.frame.reindex(columns=knowledge.candidates.columns)
    shadows = list(shadow_syntheses(release, knowledge, TABLES))
    inside = [(shadow.table, people.iloc[shadow.members[:PEOPLE]]) for shadow in shadows]
    outside = [(shadow.table, people.iloc[shadow.others[:PEOPLE]]) for shadow in shadows]
    if not shadows:
        inside, outside = (
            [(release, some.iloc[evenly_spaced(len(some), TABLES * PEOPLE)])] for some in (knowledge.candidates, people)
        )
    populations = Populations(knowledge.auxiliary)
    member, other = (fitted_weights(samples, release, knowledge, populations) for samples in (inside, outside))
    kernels = FittedKernels(member, other, populations)
    if shadows:
        release.shared.simulations[key] = knowledge.auxiliary, knowledge.simulate, kernels
    return kernels
