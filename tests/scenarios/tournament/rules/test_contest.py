"""Rules of a contest in the settings: utility measures, how they combine, and a measure of the host's own."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tournament_tools import few_columns, opened, score

from metrics.columns import CategoricalDomain, NumericDomain, infer_domain
from scenarios import Propensity, RankCorrelations, Tails, WorstTwoWay
from scenarios.commands.cli import cli
from scenarios.games import GivenPeople
from scenarios.tournament.host import simulation
from scenarios.tournament.host.boards import standings_csv, standings_table, write_all
from scenarios.tournament.host.simulation import cast
from scenarios.tournament.rules.contest import ListedMeasure
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.measures import ComparedTables, escaped, measured, uninformative
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.rules.standings import outcome_of, standings

OWN = """
from scenarios import UtilityMeasure


class MeanAge(UtilityMeasure):
    \"\"\"How well the mean age is kept.\"\"\"

    def __init__(self, *, years=10.0):
        self.years = years

    def value(self, tables):
        before, after = (table["age"].mean() for table in (tables.original, tables.released))
        return 0.0 if after != after else max(0.0, 1 - abs(after - before) / self.years)
"""
LISTED = """
source = "a test"
utility = "product"
measure = [{ use = "WorstTwoWay" }, { use = "own:MeanAge", years = 5.0, anchored = false }]
"""
CUTS = (20, 40, 60, 80)
DOMAINS = {
    "age": NumericDomain(0, 99, integer=True, cuts=CUTS),
    "size": NumericDomain(0, 99, cuts=CUTS),
    "job": CategoricalDomain(("a", "b")),
}


def people(count=200):
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, count)
    return pd.DataFrame(
        {"age": age, "size": (age + rng.integers(0, 20, count)) % 100, "job": rng.choice(["a", "b"], count)}
    )


def written(folder, text=LISTED, own=OWN):
    folder.mkdir(exist_ok=True)
    (folder / "own.py").write_text(own)
    (folder / "contest.toml").write_text(text)
    return folder / "contest.toml"


@pytest.mark.parametrize("measure", [WorstTwoWay(), RankCorrelations(), Propensity(), Tails()])
def test_a_measure_is_one_for_the_originals_and_falls(measure):
    records = people()
    mixed = records.assign(size=np.random.default_rng(1).permutation(records["size"]))
    narrow = records.assign(age=records["age"].clip(30, 70), size=records["size"].clip(30, 70))
    tables = [ComparedTables(records, escaped(one, DOMAINS), DOMAINS) for one in (records, mixed, narrow)]
    same, without_pairs, without_tails = (measured(measure, one) for one in tables)
    assert same == pytest.approx(1)
    floor = max(measured(measure, one) for one in uninformative(records, DOMAINS))
    # The ages and sizes are spread evenly, and so is ``*``, which a model of single columns cannot tell from them.
    assert floor < (0.99 if isinstance(measure, Propensity) else 0.6)
    assert (without_tails if isinstance(measure, Tails | Propensity) else without_pairs) < 0.95


def test_the_worst_pair_of_columns_counts():
    records = people()
    exchanged = records.assign(job=np.where(records["job"] == "a", "b", "a"))
    value = WorstTwoWay().value(ComparedTables(records, escaped(exchanged, DOMAINS), DOMAINS))
    # Nobody keeps the job, so that the tables of job and any other column share what chance lets them share.
    assert value < WorstTwoWay().value(
        ComparedTables(records, escaped(records.sample(frac=0.9, random_state=1), DOMAINS), DOMAINS)
    )


@pytest.mark.usefixtures("one_baseline")
def test_measures_are_combined_shown_and_scored_alike(tmp_path):
    cup = opened(tmp_path / "cup", contest=written(tmp_path / "rules"))
    table = cup.frame("kyoto").astype({"age": object})
    table.loc[:9, "age"] = "*"
    receipt = cup.hand_in("kyoto", table, measure=True)
    listed = receipt.utility.listed
    assert list(listed) == ["WorstTwoWay", "MeanAge"]
    assert receipt.utility.counted == pytest.approx(listed["WorstTwoWay"] * listed["MeanAge"])
    place = cup.tournament.team_folder("kyoto")
    arguments = [
        "tournament",
        "check",
        str(place / "kyoto_anonymized.csv"),
        "--original",
        str(place / "kyoto_original.csv"),
    ]
    shown = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"]).stdout)
    assert shown["measures"] == pytest.approx(listed)
    cup.publish()
    found = standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, 1))
    assert found[0].measures == pytest.approx(listed)
    names = sorted(listed)
    header = standings_csv(found).splitlines()[0].split(",")
    assert header[6:11] == ["utility", "utility_table", "utility_record", *names]
    assert list(standings_table(found).columns[4:6]) == names
    rules = (place / "RULES.md").read_text()
    assert "product of the following numbers" in rules
    assert "class `MeanAge` in `own.py`, which is in your folder; years = 5.0" in rules


def test_a_running_cup_keeps_its_measures(tmp_path):
    cup = opened(tmp_path / "cup", contest=written(tmp_path / "rules"))
    path = cup.tournament.folder / "tournament.toml"
    text = path.read_text()
    path.write_text(text.replace('utility = "product"', 'utility = "mean"'))
    with pytest.raises(ValueError, match="contest was changed by hand"):
        Tournament(cup.tournament.folder).check_opening()
    path.write_text(text)
    (cup.tournament.host / "own.py").write_text(OWN.replace("10.0", "99.0"))
    with pytest.raises(ValueError, match=r"own\.py: was changed since the opening"):
        Tournament(cup.tournament.folder).originals("kyoto")


@pytest.mark.usefixtures("one_baseline")
def test_the_default_measures_are_those_of_folders_of_before(tmp_path):
    text = 'measure = [{ use = "TableStatistics" }, { use = "RecordSimilarity" }]'
    tables = []
    for name, settings in (("before", {}), ("listed", {"contest": written(tmp_path / "rules", text)})):
        cup = opened(tmp_path / name, **settings)
        assert ("[contest]" in (cup.tournament.folder / "tournament.toml").read_text()) == bool(settings)
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team).assign(age="*") if team == "osaka" else cup.frame(team))
        cup.publish()
        tables.append(standings_csv(standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, 1))))
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("text", "own", "said"),
    [
        ('utility = "sum"', OWN, "key 'utility': Input should be 'mean', 'product' or 'minimum'"),
        ("mesure = []", OWN, "key 'mesure': unknown key; did you mean 'measure'"),
        ("measure = [{ name = 'x' }]", OWN, r"table \[measure.1\], key 'use': is missing"),
        ("measure = [{ use = 'WorstTwoways' }]", OWN, r"\[measure.1\]: there is no utility measure .*WorstTwoWay"),
        ("measure = [{ use = 'Mondrian' }]", OWN, r"table \[measure.1\]: 'Mondrian' is a defense"),
        ("measure = [{ use = 'own:MeanAge', year = 2 }]", OWN, "has no parameter 'year'; did you mean 'years'"),
        ("measure = [{ use = 'Tails' }, { use = 'Tails' }]", OWN, "name 'Tails' is that of two measures"),
        ("measure = [{ use = 'other:MeanAge' }]", OWN, r"other\.py: there is no such file"),
        ("measure = [{ use = 'own:MeanAges' }]", OWN, "has no class 'MeanAges'; did you mean 'MeanAge'"),
        (
            "question = [{ use = 'RowQuestions' }]",
            OWN,
            r"'use': Input should be 'RowQuestion', 'MemberQuestion', 'AttributeQ.* or 'LinkQuestion'",
        ),
        (
            "question = [{ use = 'RowQuestion', strata = ['rar'] }]\n[strata.rare]\nrarest = 0.1",
            OWN,
            "key 'strata': there is no table .strata.rar.; did you mean 'rare'",
        ),
        (
            "question = [{ use = 'MemberQuestion', false_positive_rate = 0.01 }]",
            OWN,
            r"0.01 needs 99 decoys, there are 30 \(candidates - originals\)",
        ),
        ("question = [{ use = 'MemberQuestion', false_positive_rate = 0.0 }]", OWN, "false_positive_rate must be"),
        ("[strata.old]\ncolumn = 'ages'", OWN, "key 'column': there is no column 'ages'; did you mean 'age'"),
        ("[strata.old]", OWN, "key 'rarest': give either it or 'column'"),
        ("measure = [{ use = 'own:MeanAge' }]", "import nothing_of_this_name", r"own\.py: cannot be imported"),
        (
            "measure = [{ use = 'own:MeanAge' }]",
            OWN.replace("return 0.0 if", "return 2 if 1 else 0 if"),
            "must give a number from 0 to 1, got 2",
        ),
        (
            "measure = [{ use = 'own:MeanAge' }]",
            OWN.replace("return 0.0 if", "return .5 if 1 else 0 if"),
            "gives 0.500 to the originals",
        ),
        (
            "measure = [{ use = 'own:MeanAge' }]",
            OWN.replace("return 0.0 if", "return 1 if 1 else 0 if"),
            "1 to a table of equal rows",
        ),
    ],
)
def test_rules_that_cannot_hold_are_refused(tmp_path, text, own, said):
    with pytest.raises(ValueError, match=said):
        opened(tmp_path / "cup", contest=written(tmp_path / "rules", text, own))
    assert not (tmp_path / "cup").exists()


ASKED = """
question = [
    { use = "RowQuestion", strata = ["rare", "old"] },
    { use = "MemberQuestion", false_positive_rate = 0.1, strata = ["rare"] },
]
[strata.rare]
rarest = 0.4
[strata.old]
column = "age"
low = 45
"""


@pytest.mark.usefixtures("one_baseline")
def test_the_worst_question_counts_in_the_worst_stratum(tmp_path):
    cup = opened(tmp_path / "cup", contest=written(tmp_path / "rules", ASKED))
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    tournament, truth = cup.tournament, cup.truth("kyoto")
    people = GivenPeople.listed(
        tournament.records(tournament.candidate_path("kyoto")),
        tournament.people and tournament.records(tournament.people),
        tournament.answers("kyoto"),
    )
    old = tournament.settings.rules.strata["old"].holds(people)
    assert (people.candidates["age"][old] >= 45).all()
    assert (people.candidates["age"][~old] < 45).all()
    # Right about the old alone, and sure of them; about the others it names the next candidate.
    known = old[truth]
    assert 5 <= known.sum() < len(truth) - 5
    cup.attack(
        "osaka", "kyoto", np.arange(len(truth)), np.where(known, truth, (truth + 1) % 60), np.where(known, 1.0, 0.0)
    )
    results = score(tournament, 1.0, 1)
    (found,) = (one for one in results if (one.defense, one.attack) == ("kyoto", "osaka"))
    assert set(found.scores) == {
        "reidentification",
        "rows among rare",
        "rows among old",
        "membership",
        "members among rare",
    }
    assert found.scores["rows among old"].rate == 1
    assert found.scores["rows among old"].trials == known.sum()
    assert found.scores["reidentification"].rate == pytest.approx(known.mean())
    assert found.scores["membership"].chance == 0.1
    assert outcome_of(found).goal == "rows among old"
    # Before the close, a share of the rows counts, and members do not.
    (public,) = (one for one in score(tournament, 0.5, 1) if (one.defense, one.attack) == ("kyoto", "osaka"))
    assert set(public.scores) <= {"reidentification", "rows among rare", "rows among old"}
    rules = (tournament.team_folder("kyoto") / "RULES.md").read_text()
    assert "- *members*: the share of originals whose confidence exceeds that of all but 10 % of the decoys" in rules
    assert (
        "- *rows among rare*: the same, asked of the 40% of the candidates whose values are the rarest together"
        in rules
    )
    assert set(update(tournament)) == {"standings.csv", "standings.html", "matrix.csv", "board.html"}


def update(tournament):
    """Names of the boards that the results give."""
    write_all(tournament, tournament.state().phase, score_shares(tournament, (0.5, 1.0), 1))
    return [
        path.name for path in tournament.public.iterdir() if path.suffix in (".csv", ".html") and "_" not in path.name
    ]


EXAMPLES = Path(__file__).parents[4] / "docs" / "site" / "examples"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["regression_coefficients:RegressionCoefficients", "survival_curves:SurvivalCurves", "Tails"]
)
def test_a_measure_conforms(name, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    shown = CliRunner().invoke(cli, ["check", name])
    assert shown.exit_code == 0, shown.output
    assert "the originals have utility 1, and any table one from 0 to 1" in shown.stdout


@pytest.mark.thorough
def test_a_measure_that_leaves_the_scale_does_not_conform(tmp_path, monkeypatch):
    written(
        tmp_path / "rules", own=OWN.replace("max(0.0, ", "(").replace("return 0.0 if after != after else", "return")
    )
    monkeypatch.chdir(tmp_path / "rules")
    shown = CliRunner().invoke(cli, ["check", "own:MeanAge years=1.0"])
    assert shown.exit_code == 1
    assert "MeanAge: must give a number from 0 to 1, got" in shown.stdout


def own(name):
    return ListedMeasure(use=name).built(EXAMPLES, "measures").example()


def tables_of(original, released):
    domains = {name: infer_domain(column) for name, column in original.items()}
    return ComparedTables(original, escaped(released, domains), domains)


def test_the_overlap_of_intervals_falls_with_the_coefficient():
    rng = np.random.default_rng(2)
    age = rng.integers(20, 80, 300)
    original = pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(["Nara", "Uji"], 300),
            "grade": np.where(age + rng.normal(0, 15, 300) > 50, "high", "low"),
        }
    )
    measure = own("regression_coefficients:RegressionCoefficients")
    values = [
        measure.value(tables_of(original, released))
        for released in (original, original.iloc[::2], original.assign(grade=rng.permutation(original["grade"])))
    ]
    assert values[0] == pytest.approx(1)
    assert 1 > values[1] > 0.5 > values[2]


def test_survival_curves_are_compared_at_the_worst_time_of_the_worst_group():
    # Of four people the event meets two, at 1 and 3; the curve falls to 3/4, and then by half to 3/8.
    original = pd.DataFrame(
        {"income": [1.0, 2.0, 3.0, 4.0], "grade": ["high", "low", "high", "low"], "illness": ["flu"] * 4}
    )
    measure = own("survival_curves:SurvivalCurves")
    assert measure.value(tables_of(original, original)) == 1
    never = original.assign(grade=["low", "low", "low", "low"])
    assert measure.value(ComparedTables(original, never, tables_of(original, original).domains)) == pytest.approx(3 / 8)


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_simulated_teams_play_the_rules_of_a_published_contest(tmp_path, monkeypatch):
    teams = {name: cast()[name] for name in ("identity", "mondrian-3", "pram-40", "rank-swapping")}
    monkeypatch.setattr(simulation, "cast", lambda: teams)
    contest = EXAMPLES / "ipwscup2023.toml"
    cup = simulation.simulate(
        tmp_path / "cup", few_columns(), originals=60, candidates=120, seed=1, say=lambda _: None, contest=contest
    )
    found = {one.team: one for one in standings(cup.settings.teams, score(cup, 1.0, 1), ranking=cup.settings.ranking)}
    names = {"WorstTwoWay", "RankCorrelations", "RegressionCoefficients", "RecordSimilarity"}
    assert all(set(one.measures) == names for one in found.values())
    for one in found.values():
        assert one.utility == pytest.approx(np.prod(list(one.measures.values())))
        assert one.defense == pytest.approx(one.utility * (1 - one.worst.advantage))
    # What publishes the records loses nothing and protects nobody.
    assert (found["identity"].utility, found["identity"].defense) == (pytest.approx(1), 0)
    assert found["pram-40"].measures["WorstTwoWay"] < found["rank-swapping"].measures["WorstTwoWay"]
    rules = (cup.team_folder("identity") / "RULES.md").read_text()
    assert "The rules follow iPWS Cup 2023, https://github.com/kikn88/ipwscup2023" in rules
    assert (cup.team_folder("identity") / "regression_coefficients.py").is_file()
