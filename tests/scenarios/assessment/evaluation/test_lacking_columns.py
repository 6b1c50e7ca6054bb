"""A column that is missing is no column of ``*``: utility over all columns, and over those that were released."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished

from defenses import Mondrian, RetentionReplacement
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.posed_questions import evaluate
from scenarios.assessment.evaluation.ranking import RankedRelease, ranking_sections
from scenarios.tables.dataset import load_table
from scenarios.tables.roles import read_roles

KEPT = [f"item {number}" for number in range(10)]
LEFT_OUT = [f"rare {number}" for number in range(14)]
CATEGORIES = list("abcdef")


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    """300 people with 10 associated columns and 14 nearly constant ones."""
    folder, rng = tmp_path_factory.mktemp("columns"), np.random.default_rng(1)
    level = rng.normal(size=300)
    draws = np.clip(np.floor(1.5 * np.abs(level[:, None] + rng.normal(0, 0.3, (300, 10)))), 0, 5).astype(int)
    frame = pd.DataFrame(np.array(CATEGORIES)[draws], columns=KEPT)
    frame[LEFT_OUT] = np.where(rng.random((300, 14)) < 0.97, "a", "b")
    frame.to_csv(folder / "people.csv", index=False)
    tables = "".join(
        f'[columns."{name}"]\ntype = "category"\nordered = true\ncategories = {CATEGORIES}\n' for name in frame
    )
    (folder / "roles.toml").write_text(f"quasi_identifiers = {KEPT + LEFT_OUT}\n{tables}".replace("'", '"'))
    roles = folder / "roles.toml"
    return EvaluationSetting(load_table(folder / "people.csv", roles), read_roles(roles))


def releases(setting):
    """Releases from good to worse than no information, whose columns are the first ten."""
    records, rng = setting.records, np.random.default_rng(2)
    draws = pd.DataFrame(rng.choice(CATEGORIES, (300, 24)), columns=[*KEPT, *LEFT_OUT])
    rarest = {name: records.frame[name].value_counts().index[-1] for name in KEPT}
    made = {
        "near-perfect PRAM": RetentionReplacement(retention=0.95).apply(records, rng).frame,
        "K6": Mondrian(k=6).apply(records, rng).frame,
        "half drawn": records.frame.where(rng.random((300, 24)) < 0.4, draws),
        "drawn": draws,
        "the rarest value": records.frame.assign(**rarest),
    }
    return {name: frame[KEPT] for name, frame in made.items()}


def measured(setting, frame, name="released.csv"):
    """Evaluation without attacks."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scenarios.assessment.evaluation.posed_questions.PosedQuestions.outcomes", lambda _: iter(()))
        return evaluate(setting, finished(setting, frame, name))


@pytest.fixture(scope="module")
def evaluations(setting):
    return {name: measured(setting, frame, name) for name, frame in releases(setting).items()}


@pytest.mark.thorough
def test_releases_without_some_columns_stay_ordered(evaluations):
    # Whoever releases constants comes nearer to the marginals of all 24 columns, so that the figure over all ties.
    assert [one.utility for one in evaluations.values()].count(0.0) >= 2
    assert all(one.components["marginals"] == 0 for one in evaluations.values())
    assert all(one.partial for one in evaluations.values())
    figures = [one.released_utility for one in evaluations.values()]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == len(figures)
    assert figures[0] > 0.5
    assert figures[1] > 0 > figures[2]
    assert figures[-1] >= -1


@pytest.mark.thorough
def test_a_ranking_shows_both_figures_and_orders_by_them(evaluations):
    lines = [RankedRelease(name, evaluations[name]) for name in sorted(evaluations, key=len)]
    board = ranking_sections(lines, full=False)[0].tables[0]
    assert board.columns[3:5] == ("utility", "of released columns")
    figures = [row[4] for row in board.rows]
    assert figures == sorted(figures, reverse=True)
    assert "below 0 is worse than a release without information" in board.note


@pytest.mark.thorough
def test_one_figure_is_enough_for_all_columns(setting):
    whole = measured(setting, Mondrian(k=6).apply(setting.records, np.random.default_rng(3)).frame)
    assert whole.released_utility == whole.utility > 0
    assert not whole.partial


@pytest.mark.thorough
def test_the_figure_is_that_of_the_released_columns_alone(setting):
    """Exact columns are exact, however many others are lacking."""
    for kept in (KEPT[:1], KEPT):
        exact = measured(setting, setting.records.frame[kept])
        assert exact.released_utility == 1
        assert exact.utility < 1
