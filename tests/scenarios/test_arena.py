"""The arena plays every exported defense of tables and every attack on tables, or says why not."""

import numpy as np
import pytest

from scenarios.games.playing import attack_release, make_release
from scenarios.games.questions.person_questions import RowQuestion
from scenarios.running.methods.methods import exported
from scenarios.running.plan import read_plan, read_plans
from scenarios.tables.seeds import generator

GOALS = {goal for question in exported("questions").values() for goal in question.takes}
FEWEST_STRENGTHS = 4
# The parameters of a copula make it neither stronger nor weaker; some references have no parameter.
WITHOUT_STRENGTH = {"GaussianCopula"}


@pytest.fixture(scope="module")
def plans():
    return read_plans("arena")


def test_every_table_defense_and_attack_plays_or_has_a_reason(plans):
    for plan in plans:
        defenses = {name for name, cls in exported("defenses").items() if cls.kind == "microdata"}
        attacks = {name for name, cls in exported("attacks").items() if cls.kind == "microdata" and cls.goal in GOALS}
        played = {entry.name for entry in (*plan.defenses, *plan.attacks)}
        assert played | set(plan.left_out) == defenses | attacks
        assert not played & set(plan.left_out)
        assert all(len(reason.split()) > 3 for reason in plan.left_out.values())


def test_defenses_play_at_four_strengths_or_have_none(plans):
    for plan in plans:
        for name, method in {entry.name: entry.method for entry in plan.defenses}.items():
            settings = sum(entry.name == name for entry in plan.defenses)
            single = name in WITHOUT_STRENGTH or not method.get_params()
            assert settings >= FEWEST_STRENGTHS or (single and settings == 1), name


def test_each_question_meets_the_attacks_of_its_goal(plans):
    plan = plans[0]
    assert [plan.name for plan in plans] == ["arena on adult", "arena on bank"]
    assert len(plan.pairs()) == len(plan.attacks)
    for game, attack in plan.pairs():
        assert plan.attacks[attack].method.goal in plan.games[game].takes
    assert {goal for game in plan.games for goal in game.takes} == GOALS


@pytest.mark.thorough
def test_questions_share_the_people_of_a_play(plans):
    plan = plans[0]
    first, *others = (game.draw(generator(1, "draw")) for game in plan.games)
    for other in others:
        assert other.records.frame.equals(first.records.frame)
        assert other.others.frame.equals(first.others.frame)
        assert (other.order == first.order).all()
    people = [first.records, first.others, first.auxiliary]
    assert [len(one) for one in people] == [500, 500, 1000]


@pytest.mark.thorough
def test_an_unprotected_table_gives_everything_away_and_a_constant_one_nothing():
    plan = read_plans("arena")[0].filtered(["Identity", "Constant"], ["AssignmentLinkage", "BayesInference"])
    secret = plan.games[0].draw(generator(1, "draw"))
    advantages = {}
    for entry in plan.defenses:
        _, published = make_release(entry.method, plan.games[0], secret, generator(1, "release"))
        for game, attack in plan.pairs():
            scores = attack_release(
                entry.method, plan.attacks[attack].method, plan.games[game], secret, published, np.random.default_rng(1)
            )
            for goal in plan.games[game].takes:
                advantages[entry.name, goal] = scores[goal].advantage
    assert advantages["Identity", "reidentification"] > 0.95
    assert advantages["Identity", "attribute"] > 0.95
    # Re-identification by chance has a rate of 1 / 1,000. Inferred values of 500 people and 500 others have a deviation
    # of at most .11 in advantage, where nine in ten values are guessed.
    assert advantages["Constant", "reidentification"] < 0.02
    assert abs(advantages["Constant", "attribute"]) < 0.45


SCENARIO = """
[scenario]
name = "mine"
dataset = "bank"
[scenario.game]
use = "SharedPeople"
originals = 20
others = 20
auxiliary = 20
held_out = 20
question = ["RowQuestion", "MemberQuestion"]
[[defense]]
use = "Identity"
[[attack]]
use = "NearestNeighbour"
[[attack]]
use = "Homer"
"""


@pytest.mark.thorough_beyond(11)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"MemberQuestion"]', '"PkAnonymity"]', "question: PkAnonymity is a game that draws its own people"),
        ('"MemberQuestion"]', '"MemberQuestions"]', "did you mean 'MemberQuestion'"),
        # A question that is written twice is one question.
        ('"MemberQuestion"]', '"RowQuestion"]', "no question is about membership, the goal of .*Homer"),
        ('"MemberQuestion"]', '"LinkQuestion"]', "LinkQuestion is about linkability, but no .*attack"),
        (', "MemberQuestion"]', "]", "no question is about membership, the goal of .*Homer"),
        ('"Identity"', '"ExactCurator"', "the questions are about a microdata release, but .*ExactCurator makes"),
        ("originals = 20", "originals = 50000", "50060 people are needed, but the table has 45211 rows"),
        ("originals = 20", "originals = 0", "originals must be"),
        ('["RowQuestion", "MemberQuestion"]', "[]", "name at least one of"),
        ('["RowQuestion", "MemberQuestion"]', "3", "must be a name or a table with use, got 3"),
        ('dataset = "bank"', 'dataset = ["bank", "bank"]', "names a data set twice"),
        ('dataset = "bank"', "dataset = []", r"table \[scenario\], key 'dataset': names no data set"),
        (
            'use = "Identity"',
            'use = "Identity"\ndataset = "adlut"',
            r"\[defense\], key 'dataset': 'adlut' is not a data set",
        ),
        (
            'use = "Homer"',
            'use = "Homer"\ndataset = "adult"',
            r"\[attack\], key 'dataset': 'adult' is not .*it has bank",
        ),
    ],
)
def test_bad_questions_are_one_line_with_file_table_and_key(tmp_path, old, new, message):
    path = tmp_path / "mine.toml"
    assert old in SCENARIO
    path.write_text(SCENARIO.replace(old, new))
    with pytest.raises(ValueError, match=message) as error:
        read_plans(str(path))
    assert "\n" not in str(error.value)
    assert "mine.toml" in str(error.value)


def test_two_questions_with_one_goal_are_refused(tmp_path):
    path = tmp_path / "mine.toml"
    two = ", ".join(f'{{ use = "ReconstructionQuestion", hidden = {columns} }}' for columns in (1, 2))
    text = SCENARIO.replace('"RowQuestion", "MemberQuestion"', two)
    path.write_text(text.replace('"NearestNeighbour"', '"ColumnwiseReconstruction"'))
    with pytest.raises(ValueError, match="both about record_reconstruction; write one scenario for each"):
        read_plans(str(path))


def test_attributes_need_a_sensitive_column(tmp_path):
    path = tmp_path / "mine.toml"
    text = SCENARIO.replace('"MemberQuestion"]', '"AttributeQuestion"]').replace('"Homer"', '"MajorityInClass"')
    path.write_text(text.replace('dataset = "bank"', 'dataset = "bank"\ncolumns = ["age", "job"]'))
    with pytest.raises(ValueError, match=r"table \[scenario.game\].*sensitive: the table has no sensitive column"):
        read_plan(str(path))


def test_several_data_sets_are_several_plans(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SCENARIO.replace('dataset = "bank"', 'dataset = ["bank", "adult"]'))
    assert [plan.name for plan in read_plans(str(path))] == ["mine on bank", "mine on adult"]
    with pytest.raises(ValueError, match="2 data sets"):
        read_plan(str(path))


def test_a_question_with_parameters_is_a_table(tmp_path):
    path = tmp_path / "mine.toml"
    parts = '{ use = "LinkQuestion", parts = { first = ["age"], second = ["job"] } }'
    text = SCENARIO.replace('"MemberQuestion"]', f"{parts}]").replace('"Homer"', '"NearestRowLinkability"')
    path.write_text(text)
    plan = read_plan(str(path))
    assert isinstance(plan.games[0].question, RowQuestion)
    assert plan.games[1].question.parts == {"first": ["age"], "second": ["job"]}


def test_a_method_plays_on_the_data_set_that_it_names(tmp_path):
    path = tmp_path / "mine.toml"
    text = SCENARIO.replace('dataset = "bank"', 'dataset = ["bank", "adult"]')
    path.write_text(text + '[[defense]]\nuse = "Shuffle"\ndataset = "adult"\n')
    bank, adult = read_plans(str(path))
    assert [entry.name for entry in bank.defenses] == ["Identity"]
    assert [entry.name for entry in adult.defenses] == ["Identity", "Shuffle"]


def test_a_scenario_has_one_game(tmp_path):
    path = tmp_path / "mine.toml"
    games = 'game = [{ use = "Membership" }, { use = "Linkability" }]'
    path.write_text(f'[scenario]\nname = "mine"\ndataset = "bank"\n{games}\n[[defense]]\nuse = "Identity"\n')
    with pytest.raises(ValueError, match=r"table \[scenario\], key 'game': a scenario has one game"):
        read_plans(str(path))


def test_each_of_several_data_sets_needs_a_defense_and_errors_name_it(tmp_path):
    path = tmp_path / "mine.toml"
    both = SCENARIO.replace('dataset = "bank"', 'dataset = ["bank", "adult"]')
    path.write_text(both.replace('use = "Identity"', 'use = "Identity"\ndataset = "adult"'))
    with pytest.raises(ValueError, match=r"table \[defense\]: no defense plays on the data set 'bank'"):
        read_plans(str(path))
    path.write_text(both.replace("originals = 20", "originals = 45100"))
    with pytest.raises(ValueError, match=r"people are needed.*\(data set 'adult'\)"):
        read_plans(str(path))
