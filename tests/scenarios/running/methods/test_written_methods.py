"""Methods written with their parameters, as boards show them."""

import pytest
from run_tools import invoke

from scenarios import read_plan
from scenarios.running.methods.methods import given_parameters, written_method


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("Mondrian", {}),
        ("Mondrian  k=3 ", {"k": 3}),
        ("Mondrian k=3 t=.2 strict=True", {"k": 3, "t": 0.2, "strict": True}),
        ('Mondrian columns=["age", "my job"] k=2', {"columns": ["age", "my job"], "k": 2}),
    ],
)
def test_parameters_are_toml_or_what_boards_show(text, parameters):
    assert written_method(text, "defenses") == {"use": "Mondrian", **parameters}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mondrian 3", r"'3' must be NAME=VALUE. Parameters of Mondrian: k, strict, l,"),
        ("Mondrian size=3", r"has no parameter 'size'; .*\. Parameters of Mondrian: k, strict, l,"),
        ("Mondrian k=2 k=3", "parameter 'k' is given twice"),
        ("Mondrian columns=[age, job]", r'the whole single quotes: columns=\["age", "job"\]'),
        ("Mondrain k=3", "there is no defense 'Mondrain'; did you mean 'Mondrian'"),
    ],
)
def test_a_wrong_one_is_refused_with_the_parameters(text, message):
    with pytest.raises(ValueError, match=message):
        written_method(text, "defenses")


def test_options_keep_their_name_in_messages():
    with pytest.raises(ValueError, match="-p must be NAME=VALUE, got 'k'"):
        given_parameters(["k"])


def test_a_plan_takes_what_its_scenario_plays_and_adds_the_rest():
    plan = read_plan("bank")
    shown = next(entry for entry in plan.defenses if entry.parameters)
    written = " ".join([shown.name, *(f"{name}={value}" for name, value in shown.parameters.items())])
    chosen = plan.filtered([written, "Mondrian k=3"], ["LearnedLinkage simulations=2"])
    assert chosen.defenses[0] is shown
    assert (chosen.defenses[1].name, chosen.defenses[1].method.k, chosen.defenses[1].parameters) == (
        *("Mondrian", 3),
        {"k": 3},
    )
    assert [entry.method.simulations for entry in chosen.attacks] == [2]


@pytest.mark.thorough
def test_the_command_plays_a_setting(tmp_path):
    arguments = ["--plays", 1, "--quiet", "--db", tmp_path / "a.db", "--format", "csv"]
    done = invoke("run", "bank", "-d", "Mondrian k=3", "-a", "NearestNeighbour", *arguments)
    assert done.exit_code == 0, done.output
    assert '"{""k"":3}"' in done.stdout
    done = invoke("run", "bank", "-d", "Mondrian 3", "-a", "NearestNeighbour", *arguments)
    assert (done.exit_code, "Parameters of Mondrian: k" in done.stderr) == (2, True)
