"""A method that changes what it was given fails, and the results of the others stay as they are."""

import json

import pytest
from run_tools import tokumei_here

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "job", "balance", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, auxiliary = 30, held_out = 0 }
plays = 2
seed = 5

[[defense]]
use = "Identity"

[[defense]]
use = "Rounding"
base = 20

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "LearnedLinkage"
"""
MINE = """
from attacks import Attack, NearestNeighbour
from defenses import Identity, MicrodataDefense
from defenses.base.defense import released_frame, rowwise_release


class TopCode(MicrodataDefense):
    def apply(self, records, rng):
        records.frame["age"] = 40
        records.frame["job"] = "admin."
        return rowwise_release(released_frame(records), channel=None)


class InPlace(Identity):
    def apply(self, records, rng):
        records.frame.loc[3, "balance"] = -1
        raise KeyError("after the change")


class Domains(Identity):
    def apply(self, records, rng):
        records.domains["job"]._position["admin."] = 3
        return super().apply(records, rng)


class Levels(Identity):
    def apply(self, records, rng):
        vars(records.hierarchies["job"])["_cells"][0].reverse()
        return super().apply(records, rng)


class Renames(Identity):
    def apply(self, records, rng):
        records.frame.rename(columns={"age": "years"}, inplace=True)
        return super().apply(records, rng)


class People(NearestNeighbour):
    def run(self, release, knowledge, rng):
        knowledge.auxiliary.frame["age"] = 40
        return super().run(release, knowledge, rng)


class OwnCopies(NearestNeighbour):
    def run(self, release, knowledge, rng):
        claims = super().run(release, knowledge, rng)
        release.frame["age"] = 40
        knowledge.candidates["age"] = 40
        return claims
"""
FILES = {"small.toml": SCENARIO, "mine.py": MINE}
METHODS = ("-d", "Identity", "-d", "Rounding", "-a", "NearestNeighbour", "-a", "LearnedLinkage")


def boards(folder, *others, jobs=1):
    """The board's rows by defense, and the matrix by defense and attack, of a run with further methods."""
    options = ("run", "small.toml", *others, *METHODS, "--db", "own.db", "--fresh", "-j", jobs, "--format", "json")
    played = tokumei_here(*options, cwd=folder)
    matrix = json.loads(tokumei_here("board", "--db", "own.db", "--matrix", "--format", "json", cwd=folder).stdout)
    (folder / "own.db").unlink()
    return played, {(pair["defense"], pair["attack"]): pair for pair in matrix}


def numbers(pairs):
    """What a matrix says of the methods that are not the user's own."""
    return {
        names: {key: value for key, value in pair.items() if key != "seconds"}
        for names, pair in pairs.items()
        if not any(":" in name for name in names)
    }


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    (folder / "small.toml").write_text(SCENARIO)
    return numbers(boards(folder)[1])


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_defense_that_changes_its_records_fails_and_harms_no_other(folder, alone, jobs):
    played, pairs = boards(folder, "-d", "mine:TopCode", jobs=jobs)
    assert played.exit_code == 3
    assert (
        "TopCode changes the records it was given (column 'age'); copy the frame (released_frame does) "
        "(mine.py, line 8)" in played.stderr
    )
    assert numbers(pairs) == alone


@pytest.mark.thorough
def test_every_part_of_the_records_is_compared_and_restored(folder, alone):
    """All in one run, so that each defense gets what those before it left."""
    places = {
        "InPlace": "column 'balance'",
        "Domains": "domains, entry 'job', _position, entry 'admin.'",
        "Levels": "hierarchies, entry 'job', _cells, entry 0",
        "Renames": "column 'age'",
    }
    played, pairs = boards(folder, *(part for name in places for part in ("-d", f"mine:{name}")))
    assert played.exit_code == 3
    for name, place in places.items():
        assert f"{name} changes the records it was given ({place}" in played.stderr
    assert numbers(pairs) == alone


@pytest.mark.thorough
def test_an_attack_that_changes_the_attackers_people_fails_alone(folder, alone):
    played, pairs = boards(folder, "-a", "mine:People")
    assert played.exit_code == 3
    assert "People changes what other attacks use, too (auxiliary, column 'age')" in played.stderr
    assert "knowledge.auxiliary.frame.copy() (mine.py, line" in played.stderr
    assert {pair["status"] for names, pair in pairs.items() if names[1] == "mine:People"} == {"error"}
    assert numbers(pairs) == alone


@pytest.mark.thorough
def test_an_attack_may_change_its_own_copies(folder, alone):
    played, pairs = boards(folder, "-a", "mine:OwnCopies")
    assert played.exit_code == 0, played.stderr
    assert numbers(pairs) == alone


def test_where_the_adversary_chooses_first_the_records_of_a_trial_are_compared(folder):
    (folder / "mine.py").write_text(
        "from defenses import Identity\n\n\nclass Married(Identity):\n"
        "    def apply(self, records, rng):\n        records.frame['marital'] = 'married'\n"
        "        return super().apply(records, rng)\n"
    )
    played = tokumei_here("run", "bank-pk", "-d", "mine:Married", "-a", "BestPosterior", "--plays", 1, cwd=folder)
    assert played.exit_code == 3
    assert "BestPosterior, play 0: Married changes the records it was given (column 'marital')" in (played.stderr)
