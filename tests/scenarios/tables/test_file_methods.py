"""Released files as defenses, and answer files as attacks."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge, RankedAnswers
from defenses import Identity, Microdata, Mondrian
from leaderboard.results.result import canonical
from scenarios import RowQuestion
from scenarios.games.playing import Randomness, claims_of, make_release
from scenarios.games.table_game import FinishedRelease, GivenPeople
from scenarios.running.methods.methods import describe
from scenarios.tables.file_methods import AnswerFile, Content, ReleasedFile, content_hash
from scenarios.tournament.rules.sheets import read_answers

FRAME = pd.DataFrame({"age": [21, 35, 58, 63, 70, 24], "job": ["cook", "nurse", "cook", "judge", "nurse", "judge"]})


def records(frame=FRAME):
    return Microdata(frame, quasi_identifiers=("age", "job"))


def released(own=None):
    own = records() if own is None else own
    return ReleasedFile.of(Mondrian(k=2).apply(own, np.random.default_rng(1)), own)


def people(own=None):
    own = records() if own is None else own
    others = own.with_frame(own.frame.assign(age=own.frame["age"] + 1))
    order = np.random.default_rng(2).permutation(2 * len(own))
    return GivenPeople(own, others, others.take([]), order, np.random.default_rng(3))


@pytest.mark.parametrize(
    "foreign",
    [
        FRAME.iloc[::-1].reset_index(drop=True),
        FRAME.iloc[:5],
        FRAME.rename(columns={"job": "work"}),
        FRAME.assign(age=[22, *FRAME["age"][1:]]),
    ],
    ids=["another order", "fewer", "another name", "another value"],
)
def test_a_released_file_refuses_records_that_are_not_its_own(foreign):
    with pytest.raises(ValueError, match=f"released from other records than these {len(foreign)}"):
        released().apply(Microdata(foreign), np.random.default_rng(0))


def test_a_released_file_gives_its_table_whenever_it_is_asked():
    file = released()
    first, second = (file.apply(records(), np.random.default_rng(seed)).frame for seed in (1, 2))
    pd.testing.assert_frame_equal(first, second)
    # Integers that were read as numbers with decimals are the same records.
    file.apply(records(FRAME.assign(age=FRAME["age"].astype(float))), np.random.default_rng(0))


def test_the_content_is_in_the_key_and_no_path(tmp_path):
    texts = {"monday.csv": "released_row,candidate_row\n0,1\n", "tuesday.csv": "released_row,candidate_row\n0,2\n"}

    def key(name, text):
        path = tmp_path / name
        path.write_text(text)
        content = Content(read_answers(name, path.read_bytes(), 6, 12), content_hash(pd.DataFrame({"text": [text]})))
        method = AnswerFile(answers=content)
        assert name not in repr(method)
        assert name not in canonical(describe(method))
        assert method.clone() == method
        return canonical(describe(method))

    assert key("monday.csv", texts["monday.csv"]) == key("copy.csv", texts["monday.csv"])
    assert key("monday.csv", texts["monday.csv"]) != key("monday.csv", texts["tuesday.csv"])
    assert describe(released()) == {
        "table": content_hash(released().table.value.frame),
        "records": content_hash(FRAME),
    }
    assert released() == released().clone()
    other = Identity().apply(records(), np.random.default_rng(0))
    assert released() != ReleasedFile.of(other, records())


def test_answers_are_claimed_as_the_file_says():
    text = "released_row,candidate_row,confidence\n0,4,0.9\n2,1,0.3\n5,11,0.5\n"
    read = read_answers("answers.csv", text.encode(), 6, 12)
    file, crowd = released(), people()
    game = FinishedRelease(people=crowd, question=RowQuestion())
    release = make_release(file, game, crowd, np.random.default_rng(0))[1]
    rngs = Randomness.in_turn(np.random.default_rng(1))
    claims = claims_of(file, AnswerFile(answers=Content(read, "52ce")), game, crowd, release, rngs)
    assert claims is read
    assert claims.target.tolist() == [0, 2, 5]
    assert claims.answer.tolist() == [4, 1, 11]
    assert claims.score.tolist() == [0.9, 0.3, 0.5]


def test_answers_about_another_release_or_other_candidates_are_refused():
    answers = RankedAnswers(targets=6, answers=12, target=[0], answer=[4], score=[1.0])
    attack = AnswerFile(answers=Content(answers, "52ce"))
    release = released().table.value
    for rows, candidates in ((5, 12), (6, 11)):
        knowledge = Knowledge(people().candidates[:candidates], records().take([]))
        with pytest.raises(ValueError, match="about 6 rows and 12 candidates, there are"):
            attack.run(release.take(np.arange(rows)), knowledge, np.random.default_rng(0))
