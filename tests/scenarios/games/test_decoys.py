"""Nobody can say from a candidate file alone which candidates are originals, even with all public records at hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from tournament_tools import opened

from defenses import Microdata
from scenarios import CandidateFile, load
from scenarios.games.decoys import EQUAL, LAST, NearGroups
from scenarios.tables.seeds import generator
from scenarios.tournament.rules.checking import check

PLAYS, ORIGINALS = 10, 100
# A score without information finds k pairs whole and half of the split ones: a play's rate has deviation .05 at most,
# the mean of 10 plays .0158. The bound of .08 is exceeded with probability 4e-7, by any of the twenty below 1e-5.
BOUND = 0.08


class Distances:
    """Gower distances of candidates to one another and to everybody, exact equals and oneself left out."""

    def __init__(self, coded, own, people):
        self.public = coded._distance(own, np.arange(people))
        self.among = coded._distance(own, own)
        for distance in (self.public, self.among):
            distance[distance < EQUAL] = np.inf


def in_degree(distances):
    """How many candidates have this one as their nearest."""
    return np.bincount(distances.among.argmin(axis=1), minlength=len(distances.among)).astype(float)


def one_sided(distances):
    """The nearest candidate is as near as the nearest person of all."""
    return distances.public.min(axis=1) - distances.among.min(axis=1)


def rank_of_partner(distances):
    """How many people are nearer than the nearest candidate, compared with that candidate's own count."""
    nearer = (distances.public < distances.among.min(axis=1)[:, None] - EQUAL).sum(axis=1)
    return (nearer[distances.among.argmin(axis=1)] - nearer).astype(float)


def density(distances):
    """How near the tenth nearest person is."""
    return -np.partition(distances.public, 10, axis=1)[:, 10]


ATTACKERS = (in_degree, one_sided, rank_of_partner, density)


def nearest_decoys(records, rng):
    """The former scheme: for each original in turn the nearest person who is not yet chosen."""
    people = rng.permutation(len(records))
    originals, pool = people[:ORIGINALS], people[ORIGINALS:]
    distance = NearGroups(records, 2)._distance(originals, pool)
    distance[distance < EQUAL] = np.inf
    decoys = []
    for row in distance:
        row[decoys] = np.inf
        decoys.append(int(row.argmin()))
    return records.take(np.concatenate([originals, pool[decoys]])).frame, np.arange(ORIGINALS)


def advantages(records, files):
    """Mean over files of the share of originals among the first candidates of each attacker, less one half."""
    files = list(files)
    together = [records.frame, *(candidates[records.frame.columns] for candidates, _ in files)]
    coded = NearGroups(records.with_frame(pd.concat(together, ignore_index=True)), 2)
    rates = {attacker: [] for attacker in ATTACKERS}
    start = len(records)
    for number, (candidates, answers) in enumerate(files):
        distances = Distances(coded, start + np.arange(len(candidates)), len(records))
        start += len(candidates)
        for attacker, found in rates.items():
            ties = generator(0, "ties", number, attacker.__name__).random(len(candidates))
            first = np.lexsort([ties, -attacker(distances)])[:ORIGINALS]
            found.append(np.isin(first, answers).mean())
    return {attacker.__name__: np.mean(found) - 0.5 for attacker, found in rates.items()}


def some_people(name):
    """Records of ten thousand people of a built-in data set."""
    records = load(name).records
    return records.take(generator(0, "people").permutation(len(records))[:10_000])


@cache
def public(name):
    """Released columns of these people, without roles that do not matter here."""
    records = some_people(name)
    return Microdata(
        records.frame[list(records.released_columns)],
        quasi_identifiers=records.quasi_identifiers,
        domains={name: records.domain(name) for name in records.released_columns},
    )


@pytest.mark.parametrize("name", ["adult", pytest.param("bank", marks=pytest.mark.long)])
def test_the_nearest_people_as_decoys_would_give_the_originals_away(name):
    """The attackers below are no straw men: they catch the former scheme."""
    records = public(name)
    found = advantages(records, (nearest_decoys(records, generator(3, "old", play)) for play in range(5)))
    assert max(found.values()) > 2.5 * BOUND
    assert found["rank_of_partner"] > 1.5 * BOUND


@pytest.mark.long_for("adult-hard")
@pytest.mark.parametrize("decoys", ["random", "hard"])
@pytest.mark.parametrize("name", ["adult", pytest.param("bank", marks=pytest.mark.long)])
def test_a_candidate_file_gives_no_original_away(name, decoys):
    records = public(name)
    game = CandidateFile(records=records, decoys=decoys, originals=ORIGINALS, candidates=2 * ORIGINALS)
    secrets = (game.draw(generator(4, "new", play)) for play in range(PLAYS))
    found = advantages(records, ((secret.candidates, secret.answers) for secret in secrets))
    assert max(map(abs, found.values())) < BOUND, found


@pytest.mark.thorough
def test_a_tournament_gives_no_original_away(tmp_path):
    teams = [f"team{number}" for number in range(PLAYS)]
    # As many people as those among whom the attackers catch the former scheme.
    dataset = replace(load("bank"), records=some_people("bank"))
    sizes = {"originals": ORIGINALS, "candidates": 2 * ORIGINALS}
    tournament = opened(tmp_path / "cup", teams, dataset=dataset, decoys="hard", **sizes).tournament
    files = [(tournament.records(tournament.candidate_path(team)).frame, tournament.answers(team)) for team in teams]
    assert not pd.concat([candidates for candidates, _ in files]).duplicated().any()
    found = advantages(public("bank"), files)
    assert max(map(abs, found.values())) < BOUND, found


@pytest.mark.thorough
@pytest.mark.long_for("2", "3")
@pytest.mark.parametrize("size", [2, 3, 5])
def test_groups_are_disjoint_near_and_without_equals(size):
    rng = generator(5, "groups")
    frame = pd.DataFrame(
        {"age": rng.integers(0, 60, 2999), "job": rng.choice(list("abcdef"), 2999), "sex": rng.choice(["f", "m"], 2999)}
    )
    near = NearGroups(Microdata(frame, quasi_identifiers=("age", "job", "sex")), size)
    groups = near.groups
    assert sorted(groups.ravel()) == list(range(2999 // size * size))
    # 720 different people in 2,999 records: most have equals, and none shares a group with one.
    assert max(frame.iloc[group].duplicated().sum() for group in groups) == 0
    inside = np.mean([near._distance(group[:1], group[1:]).mean() for group in groups])
    assert inside < 0.2 * near._distance(np.arange(200), np.arange(2000)).mean()


def test_equals_share_a_group_only_where_nobody_else_is_left():
    frame = pd.DataFrame({"job": ["clerk"] * 90 + ["nurse"] * 10})
    groups = NearGroups(Microdata(frame, quasi_identifiers=("job",)), 2).groups
    assert (frame["job"].to_numpy()[groups] == "nurse").any(axis=1).sum() == 10


@pytest.mark.thorough
def test_originals_in_one_group_leave_the_number_of_candidates():
    """In a table of 60 people, originals share groups; each candidate is still an original as often as any other."""
    frame = pd.DataFrame({"age": np.arange(61) ** 2})
    near = NearGroups(Microdata(frame, quasi_identifiers=("age",)), 2)
    partner = near.groups[:, ::-1].ravel()[np.argsort(near.groups.ravel())]
    counts = np.zeros((2, 2))
    for play in range(2000):
        rng = generator(6, "small", play)
        originals = rng.permutation(60)[:20]
        candidates = np.concatenate([originals, near.decoys(originals, rng)])
        assert np.unique(candidates).size == 40
        assert np.isin(partner[candidates], candidates).all()
        counts += np.bincount(2 * (candidates % 2) + (np.arange(40) < 20), minlength=4).reshape(2, 2)
    # People at even and odd positions: 40,000 candidates each, of whom half are originals; a standard deviation of at
    # most .0025, and five of them are exceeded with probability 6e-7.
    assert np.abs(counts[:, 1] / counts.sum(axis=1) - 0.5).max() < 0.0125


def test_unequal_groups_are_refused():
    records = load("bank").records
    with pytest.raises(ValueError, match="candidates must be a multiple of originals"):
        CandidateFile(records=records, originals=100, candidates=150, decoys="hard")
    with pytest.raises(ValueError, match="size must be at least 2"):
        NearGroups(records, 1)
    assert len(records.frame.columns) < LAST


@pytest.mark.thorough
def test_a_team_checks_its_table_among_hard_decoys(tmp_path):
    played = opened(tmp_path / "cup", originals=30, candidates=90, decoys="hard")
    place = played.tournament.team_folder("kyoto")
    report = check(played.file("kyoto", played.frame("kyoto")), place / "kyoto_original.csv")
    assert report.decoys == 60
    assert report.outcomes[0].advantage > 0.9


def test_unequal_groups_are_told_before_anything_is_played(tmp_path):
    from click.testing import CliRunner

    from scenarios.commands.cli import cli

    game = '{ use = "CandidateFile", originals = 30, candidates = 100, decoys = ["random", "hard"] }'
    scenario, teams = tmp_path / "uneven.toml", tmp_path / "teams.txt"
    head, methods = (
        '[scenario]\nname = "uneven"\ndataset = "bank"',
        'use = "Identity"\n[[attack]]\nuse = "NearestNeighbour"',
    )
    scenario.write_text(f"{head}\ngame = {game}\n[[defense]]\n{methods}\n")
    teams.write_text("kyoto\nosaka\n")
    moments = ("--anonymize-until", "2090-01-01T12:00", "--attack-until", "2091-01-01T12:00")
    sizes = ("--originals", "30", "--candidates", "100", "--decoys", "hard")
    for arguments in (
        ("validate", str(scenario)),
        ("run", str(scenario), "--db", str(tmp_path / "results.db")),
        ("tournament", "init", str(tmp_path / "cup"), "--dataset", "bank", "--teams", str(teams), *moments, *sizes),
    ):
        done = CliRunner().invoke(cli, list(arguments))
        assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.output
        assert "candidates must be a multiple of originals (30) with hard decoys, got 100" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"uneven.toml", "teams.txt"}
