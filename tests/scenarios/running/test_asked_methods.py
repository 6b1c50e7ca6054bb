"""A run builds the methods that it is asked for, and no others of the scenario file."""

import pytest

from defenses import Mondrian
from scenarios.running import plan as plans
from scenarios.running.plan import read_plan
from scenarios.running.runner import Changes, changed_plans

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 100 }

[[defense]]
use = "Mondrian"
k = [2, 5]

[[defense]]
use = "defenses.grouping.anatomy:Anatomy"
l = 2

[[defense]]
use = "Microaggregation"
k = 3

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "GroupLinkage"
"""


@pytest.fixture
def asked(tmp_path):
    """Makes the plan for some defenses and attacks."""
    path = tmp_path / "small.toml"

    def ask(defenses=(), attacks=(), text=SCENARIO):
        path.write_text(text)
        (plan,) = changed_plans([str(path)], None, Changes(defenses=defenses, attacks=attacks), print)
        return plan

    return ask


@pytest.fixture
def built(monkeypatch):
    """Names of the methods that are built."""
    names, build = [], plans.build

    def noted(table, package):
        if package in ("defenses", "attacks"):
            names.append(table["use"])
        return build(table, package)

    monkeypatch.setattr(plans, "build", noted)
    return names


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    ("defenses", "played", "made"),
    [
        (("Mondrian",), ["Mondrian", "Mondrian"], ["Mondrian", "Mondrian"]),
        (("Mondrian k=5",), ["Mondrian"], ["Mondrian", "Mondrian"]),
        (("Mondrian k=7",), ["Mondrian"], ["Mondrian", "Mondrian", "Mondrian"]),
        (("Anatomy",), ["Anatomy"], ["defenses.grouping.anatomy:Anatomy"]),
        (("Rounding base=10", "Microaggregation"), ["Rounding", "Microaggregation"], ["Microaggregation", "Rounding"]),
    ],
)
def test_only_the_methods_that_are_asked_for_are_built(asked, built, defenses, played, made):
    plan = asked(defenses, ("NearestNeighbour",))
    assert [entry.name for entry in plan.defenses] == played
    assert sorted(built) == sorted([*made, "NearestNeighbour"])


def test_a_name_that_the_scenario_does_not_play_is_refused_with_the_near_ones(asked):
    with pytest.raises(
        ValueError, match=r"the scenario does not play 'GowerMicroaggregation'; did you mean 'Microagg"
    ) as e:
        asked(("GowerMicroaggregation",))
    assert str(e.value).endswith("; defenses:GowerMicroaggregation adds it")
    with pytest.raises(ValueError, match=r"there is no defense 'Mondrain'; did you mean 'Mondrian'"):
        asked(("Mondrain",))


def test_a_mistake_elsewhere_is_found_by_reading_the_whole_and_stops_no_other_method(asked, tmp_path):
    wrong = SCENARIO.replace("k = 3", "k = -3")
    assert [entry.method for entry in asked(("Mondrian k=2",), text=wrong).defenses] == [Mondrian(k=2)]
    with pytest.raises(ValueError, match=r"small\.toml: table \[defense\].*Microaggregation"):
        read_plan(str(tmp_path / "small.toml"))
    with pytest.raises(ValueError, match=r"small\.toml: table \[defense\].*Microaggregation"):
        asked((), ("NearestNeighbour",), text=wrong)
