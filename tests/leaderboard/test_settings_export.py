"""Settings as CSV: the worst attack over all goals, with its bound."""

import io

import pandas as pd

from leaderboard import SETTING_COLUMNS, Result, exposures, setting_records
from metrics import Score


def results(defense, rates, plays=12):
    """Releases, and trials of an attack for each goal."""
    for play in range(plays):
        common = {"scenario": "mine", "defense": defense, "parameters": {"k": 5}, "guarantee": "k=5", "play": play}
        yield Result(key=f"{defense} {play}", values={"marginals": 0.5}, **common)
        for goal, rate in rates.items():
            scores = {goal: Score(goal, rate=rate, chance=0.5, trials=100)}
            yield Result(key=f"{defense} {play} {goal}", attack=f"On {goal}", scores=scores, **common)


def test_a_setting_has_the_worst_attack_of_all_goals():
    played = [*results("Mondrian", {"membership": 0.6, "attribute": 0.9}), *results("Unattacked", {})]
    text = setting_records(exposures(played)).csv()
    table = pd.read_csv(io.StringIO(text))
    assert tuple(table.columns) == SETTING_COLUMNS
    [row] = table.to_dict("records")
    assert (row["defense"], row["parameters"], row["worst_attack"], row["goal"]) == (
        "Mondrian",
        '{"k":5}',
        "On attribute",
        "attribute",
    )
    [exposure] = [one for one in exposures(played) if one.overall is not None]
    assert row["advantage"] == 0.8 < row["advantage_upper"] <= 1
    assert row["advantage_upper"] < row["advantage_upper_sure"] == round(exposure.overall.sure_upper, 6) < 1
    assert row["utility"] == exposure.utility.value
    assert text == setting_records(exposures(played[::-1])).csv()
