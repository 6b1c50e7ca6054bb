"""Evidence about people of the attacker's own leaves out the person and the tables that hold it."""

from dataclasses import replace

import numpy as np
import pytest
from playing_tools import secret_of

from attacks import DensityRatioMembership, LocalLikelihoodMembership
from attacks.membership.fitted_kernels import fitted_kernels
from attacks.membership.kernel_evidence import evidence_of_release, evidence_of_shadows
from attacks.membership.mixture_kernel import log_density, log_kernel
from attacks.membership.reference_tables import shadow_syntheses
from defenses import AdditiveNoise


@pytest.fixture(scope="module")
def setting(membership_game):
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = AdditiveNoise(scale=1).apply(secret.records, np.random.default_rng(0))
    knowledge = membership_game.knowledge(secret, AdditiveNoise(scale=1))
    shadows = list(shadow_syntheses(release, knowledge, 3))
    return release, knowledge, shadows, fitted_kernels(release, knowledge)


@pytest.mark.thorough
def test_a_person_is_compared_with_tables_and_people_without_it(setting):
    _, knowledge, shadows, kernels = setting
    people = knowledge.auxiliary.frame.iloc[:30]
    own = replace(knowledge, candidates=people)
    member = np.array([shadow.member[:30] for shadow in shadows])
    lessons = evidence_of_shadows(shadows, own, kernels, member)
    for person in (0, 7):
        absent = [t for t in (1, 2) if not member[t, person]] or [1, 2]
        usual = [log_density(shadows[t].table, own, kernels.other)[person] for t in absent]
        assert lessons[0].expected[person] == pytest.approx(np.mean(usual))
        assert lessons[0].pooled[person] == pytest.approx(np.log(np.mean(np.exp(usual))))
        # The density of the rows is estimated from all people but the one.
        table, rows = shadows[0].table, len(shadows[0].table.frame)
        near = np.exp(log_kernel(table, own, kernels.member)[:, person])
        smooth = np.delete(np.exp(log_kernel(table, own, kernels.other)), person, axis=1).mean(axis=1)
        assert lessons[0].local[person] == pytest.approx(np.log(1 - 1 / rows + near / smooth / rows).sum(), rel=1e-3)


def test_evidence_of_the_release_is_that_of_the_single_attacks(setting):
    release, knowledge, shadows, kernels = setting
    evidence = evidence_of_release(release, shadows, knowledge, kernels, knowledge.auxiliary.frame)
    rng = np.random.default_rng(0)
    assert evidence.local == pytest.approx(LocalLikelihoodMembership().run(release, knowledge, rng).scores)
    ratio = evidence.near - np.logaddexp(evidence.smooth, evidence.pooled) + np.log(2)
    assert ratio == pytest.approx(DensityRatioMembership(rounds=3).run(release, knowledge, rng).scores)
