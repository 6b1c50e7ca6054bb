"""Methods are found by the names that the field gives them, and identified by their classes all the same."""

import re
from collections import Counter
from itertools import chain

import pytest
from run_tools import invoke

from scenarios.checks.audits.names import mechanism_of, mechanisms
from scenarios.running.methods.methods import PACKAGES, exported, find, metrics, source_name
from scenarios.running.plan import read_plan
from scenarios.tables.near_names import field_terms, known_as

FIELD = {
    "AIM": "AdaptiveIterativeMechanism",
    "MST": "MaximumSpanningTree",
    "mst": "MaximumSpanningTree",
    "PrivBayes": "PrivBayes",
    "SMOTE": "NeighbourInterpolation",
    "CART": "ClassificationTrees",
    "synthpop": "ClassificationTrees",
    "MDAV": "Microaggregation",
    "PRAM": "RetentionReplacement",
    "local suppression": "CellSuppression",
    "rank-swapping": "RankSwapping",
    "pseudonymisation": "Pseudonymization",
    "DP-SGD": "PrivateGradientDescent",
    "FedAvg": "FederatedAveraging",
}
ATTACKS = {
    "LiRA": "LikelihoodRatioAttack",
    "DOMIAS": "DensityRatioMembership",
    "DCR": "DistanceToClosestRecord",
    "Fellegi-Sunter": "FellegiSunter",
    "nearest neighbor": "NearestNeighbour",
    "EM": "ExpectationMaximizationLinkage",
}
MECHANISMS = {
    "GRR": "GeneralizedRandomizedResponse",
    "OUE": "OptimizedUnaryEncoding",
    "SUE": "SymmetricUnaryEncoding",
    "OLH": "OptimizedLocalHashing",
    "RAPPOR": "SymmetricUnaryEncoding",
    "geometric mechanism": "DiscreteLaplace",
}


@pytest.mark.parametrize(("name", "cls"), FIELD.items())
def test_defenses_are_found_and_keep_the_name_of_their_class(name, cls):
    assert find(name, "defenses").__name__ == cls
    assert source_name(find(name, "defenses").example()) == cls


@pytest.mark.parametrize(("name", "cls"), ATTACKS.items())
def test_attacks_are_found(name, cls):
    assert find(name, "attacks").__name__ == cls


@pytest.mark.parametrize(("name", "cls"), MECHANISMS.items())
def test_mechanisms_are_found(name, cls):
    assert type(mechanism_of(name, {"d": 4} if cls != "DiscreteLaplace" else {})).__name__ == cls


@pytest.mark.parametrize("name", ["", "-", "nonsense", "AI"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="there is no defense"):
        find(name, "defenses")


def test_no_two_classes_share_a_name():
    classes = {**exported("defenses"), **exported("attacks"), **mechanisms()}
    names = chain.from_iterable({name, *vars(one).get("called", ())} for name, one in classes.items())
    found = {name: known_as(name, classes) for name in names}
    assert [name for name, one in found.items() if name != one and name not in classes[one].called] == []
    counts = Counter(name.casefold() for one in classes.values() for name in vars(one).get("called", ()))
    assert [name for name, count in counts.items() if count > 1] == []


def test_a_subclass_does_not_inherit_the_name():
    class Mine(find("MDAV", "defenses")):
        pass

    assert Mine.shown_name() == "Mine"
    assert known_as("MDAV", {"Mine": Mine}) is None


@pytest.mark.parametrize("name", ["MST", "AIM", "k-anonymity", "t-closeness", "LiRA", "OUE", "MIA", "Gower", "pMSE"])
def test_info_describes_it(name):
    done = invoke("info", name)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("name", ["Datafly", "samarati", "NNDR", "TCAP", "k-map", "HIPAA"])
def test_a_term_of_the_field_that_is_no_method_is_explained(name):
    done = invoke("info", name)
    assert done.exit_code == 2, done.output
    assert "`" in done.output or "stands closest" in done.output


def test_terms_of_the_field_name_what_there_is():
    """A meaning of one word is a name; words name in quotation marks what stands closest."""
    there = {*metrics(), *mechanisms()}.union(*map(exported, PACKAGES))
    meanings = field_terms().values()
    assert {one for one in meanings if " " not in one and one != "meaning"} <= there
    assert set(re.findall(r"'(\w+)'", " ".join(one for one in meanings if " " in one))) <= there


def test_a_scenario_plays_the_methods_of_these_names(tmp_path):
    text = """
[scenario]
name = "x"
dataset = "bank"
game = { use = "CandidateFile", originals = 20, candidates = 40 }
plays = 1
seed = 1
[[defense]]
use = "%s"
k = 3
[[defense]]
use = "rank swapping"
[[attack]]
use = "%s"
"""
    plans = []
    for defense, attack in (("MDAV", "Fellegi-Sunter"), ("Microaggregation", "FellegiSunter")):
        path = tmp_path / f"{defense}.toml"
        path.write_text(text % (defense, attack))
        plans.append(read_plan(str(path)))
    described = [[entry.name for entry in (*plan.defenses, *plan.attacks)] for plan in plans]
    assert described == [["Microaggregation", "RankSwapping", "FellegiSunter"]] * 2
    assert [entry.name for entry in plans[0].filtered(["MDAV"], []).defenses] == ["Microaggregation"]
