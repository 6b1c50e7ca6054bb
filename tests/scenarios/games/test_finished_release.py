"""Games about given people and a finished release."""

import numpy as np
import pandas as pd

from attacks import NearestNeighbour, RankedAnswers
from defenses import Microdata, Mondrian
from scenarios import RowQuestion, play
from scenarios.games import FinishedRelease, GivenPeople
from scenarios.tables.file_methods import AnswerFile, Content, ReleasedFile


def records():
    frame = pd.DataFrame({"age": [21, 35, 58, 63, 70, 24], "job": ["cook", "nurse", "cook", "judge", "nurse", "judge"]})
    return Microdata(frame, quasi_identifiers=("age", "job"))


def test_a_finished_release_is_played_like_a_method():
    """The true answers in a file are all right, and a built-in attack plays the same game."""
    own = records()
    others = own.with_frame(own.frame.assign(age=own.frame["age"] + 1))
    order = np.random.default_rng(2).permutation(2 * len(own))
    crowd = GivenPeople(own, others, others.take([]), order, np.random.default_rng(3))
    answers = RankedAnswers(6, 12, np.arange(6), crowd.answers, np.ones(6))
    game = FinishedRelease(people=crowd, question=RowQuestion())
    attacks = AnswerFile(answers=Content(answers, "52ce")), NearestNeighbour()
    release = ReleasedFile.of(Mondrian(k=2).apply(own, np.random.default_rng(1)), own)
    rates = [play(release, attack, game, np.random.default_rng(1)).scores["reidentification"] for attack in attacks]
    assert rates[0].rate == 1.0
    assert {one.trials for one in rates} == {6}


def test_listed_candidates_keep_their_order():
    candidates = records()
    listed = GivenPeople.listed(candidates, candidates.take([]), np.array([4, 0]))
    pd.testing.assert_frame_equal(listed.candidates, candidates.frame)
    assert listed.answers.tolist() == [4, 0]
    assert listed.member.tolist() == [True, False, False, False, True, False]
    assert not GivenPeople.listed(candidates, candidates.take([])).member.any()
