"""Calibration of the confidences that linkage attacks state."""

import numpy as np
import pytest
from linkage_tools import (
    NOISY,
    calibration_error,
    correct_answers,
)

from attacks import (
    EnsembleLinkage,
    ExpectationMaximizationLinkage,
    GroupLinkage,
    LearnedLinkage,
    LikelihoodAssignment,
    RankedAnswers,
)
from defenses import (
    Identity,
    Microaggregation,
    Mondrian,
    RankSwapping,
    RetentionReplacement,
)
from scenarios import CandidateFile


@pytest.fixture(scope="module")
def games(bank):
    return {decoys: CandidateFile(records=bank, decoys=decoys) for decoys in ("random", "hard")}


DEFENSES = {
    "a copy": Identity(),
    "PRAM and noise": NOISY,
    "PRAM on bins": RetentionReplacement(retention=0.5),
    "ranks swapped": RankSwapping(window=0.1),
    "equal groups": Mondrian(k=5),
    "means of groups": Microaggregation(k=5),
}


CONFIDENT = (LikelihoodAssignment(), GroupLinkage(), ExpectationMaximizationLinkage(), EnsembleLinkage())


@pytest.mark.long_for(
    "PRAM and noise-hard", "PRAM on bins-random", "equal groups-random", "means of groups-hard", "ranks swapped-hard"
)
@pytest.mark.parametrize(("name", "decoys"), list(zip(DEFENSES, ["random", "hard"] * 3, strict=True)))
def test_confidences_are_calibrated(games, name, decoys):
    # Calibrated confidences give an error of about .04 with 300 rows. The long test below is stricter.
    for confidence, correct in correct_answers(CONFIDENT, DEFENSES[name], games[decoys], plays=3).values():
        assert calibration_error(confidence, correct) < 0.1


@pytest.mark.long
@pytest.mark.parametrize("decoys", ["random", "hard"])
@pytest.mark.parametrize("name", DEFENSES)
def test_confidences_are_calibrated_over_many_plays(games, name, decoys):
    # 3,000 rows, with dependent answers within a group. Calibrated confidences give an error of about .015.
    attacks = (*CONFIDENT, LearnedLinkage())
    for confidence, correct in correct_answers(attacks, DEFENSES[name], games[decoys], plays=30).values():
        assert calibration_error(confidence, correct) < 0.06


def test_learned_confidences_are_calibrated(bank):
    ((confidence, correct),) = correct_answers(
        [LearnedLinkage(simulations=3)], NOISY, CandidateFile(records=bank), 2
    ).values()
    assert calibration_error(confidence, correct) < 0.12
    assert correct.mean() > 0.65


def test_overconfident_attacks_have_a_large_calibration_error(bank):
    class Overconfident(GroupLinkage):
        def run(self, release, knowledge, rng):
            claims = super().run(release, knowledge, rng)
            return RankedAnswers(
                claims.targets,
                claims.answers,
                claims.target,
                claims.answer,
                claims.score,
                None,
                np.ones(claims.target.size),
            )

    ((confidence, correct),) = correct_answers([Overconfident()], NOISY, CandidateFile(records=bank), 3).values()
    assert calibration_error(confidence, correct) > 0.12
