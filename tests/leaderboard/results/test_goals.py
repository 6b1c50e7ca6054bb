"""The list of goals: attacks say which goal they serve, and the list has words for each."""

from leaderboard.results.goals import KNOWN, goal_named, goal_title, goal_words
from scenarios.running.methods.methods import exported, find


def test_every_goal_of_an_attack_has_words_and_no_other():
    assert set(KNOWN) == {attack.goal for attack in exported("attacks").values()}
    for goal in KNOWN:
        assert goal_named(goal_words(goal)) == goal
        assert goal_title(goal)


def test_a_goal_that_is_a_choice_names_a_question_about_it():
    for name, goal in KNOWN.items():
        assert bool(goal.option) == bool(goal.question)
        if goal.question:
            assert name in find(goal.question, "questions").takes
