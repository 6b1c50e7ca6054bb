"""``tokumei attack`` links what ``tokumei defend`` releases, scores the links, and refuses bad input in one line."""

import re
import tomllib

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from scenarios import load
from scenarios.tables.seeds import generator

COLUMNS = ["age", "job", "marital", "balance", "month", "duration", "y"]
ROLES = """
sensitive = ["y"]
[columns.age]
type = "number"
low = 0
high = 120
integer = true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    people = load("bank").records.frame[COLUMNS].sample(80, random_state=generator(1, "people"))
    people.to_csv(folder / "people.csv", index=False)
    people.to_parquet(folder / "people.parquet", index=False)
    (folder / "roles.toml").write_text(ROLES)
    for name, method, *parameters in (
        ("noisy", "AdditiveNoise", "-p", "scale=0.2"),
        ("pram", "RetentionReplacement", "-p", "retention=0.8"),
        ("groups", "Mondrian", "-p", "k=4"),
        ("ranks", "RankSwapping", "-p", "window=0.1"),
        ("means", "Microaggregation", "-p", "k=4"),
        ("sample", "Sampling", "-p", "rate=0.5"),
        ("vector", "OptimalRetention", "-p", "epsilon=20"),
        ("coarse", "GlobalRecoding", "-p", "levels=1"),
        ("copy", "Identity"),
    ):
        done = invoke(
            "defend",
            method,
            *parameters,
            folder / "people.csv",
            "--seed",
            3,
            "-o",
            folder / f"{name}.csv",
            "--channel",
            folder / f"{name}.toml",
            "--truth",
            folder / f"{name}-who.csv",
        )
        assert done.exit_code == 0, done.output
    return folder


def attack(folder, name, *arguments, released="copy", candidates="people.csv"):
    output = folder / "answer.csv"
    done = invoke(
        "attack",
        name,
        "-r",
        folder / f"{released}.csv",
        "-c",
        folder / candidates,
        "-o",
        output,
        "--force",
        "--truth",
        folder / f"{released}-who.csv",
        *arguments,
    )
    assert done.exit_code == 0, done.output
    return pd.read_csv(output), done.output


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "name",
    [
        "NearestNeighbour",
        "AssignmentLinkage",
        "ExpectationMaximizationLinkage",
        "FellegiSunter",
        "GroupLinkage",
        "EnsembleLinkage",
    ],
)
def test_attacks_that_need_no_channel_find_a_copy(folder, name):
    answer, output = attack(folder, name)
    who = pd.read_csv(folder / "copy-who.csv")
    assert list(answer.columns) == ["released_row", "candidate_row", "confidence"]
    assert answer["released_row"].tolist() == list(range(80))
    assert (answer["candidate_row"] == who["record"]).mean() > 0.95
    assert answer["confidence"].between(0, 1).all()
    assert "80 of 80 released rows answered" in output
    assert "right: " in output


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("released", ["noisy", "pram", "groups", "ranks", "means", "sample"])
def test_a_channel_is_read_and_confidences_tell_the_rate(folder, released):
    answer, output = attack(folder, "LikelihoodAssignment", "--channel", folder / f"{released}.toml", released=released)
    right = (answer["candidate_row"] == pd.read_csv(folder / f"{released}-who.csv")["record"]).mean()
    # 80 rows: what is stated and what is found differ by chance by .06 or so.
    assert answer["confidence"].mean() == pytest.approx(right, abs=0.15)
    assert f"{right:.1%}" in output


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["NearestNeighbour", "AssignmentLinkage", "FellegiSunter"])
@pytest.mark.parametrize("released", ["noisy", "pram", "groups", "ranks"])
def test_confidences_that_are_filled_in_tell_the_rate(folder, name, released):
    answer, _ = attack(folder, name, released=released)
    right = (answer["candidate_row"] == pd.read_csv(folder / f"{released}-who.csv")["record"]).mean()
    assert answer["confidence"].mean() == pytest.approx(right, abs=0.15)


@pytest.mark.thorough
def test_it_is_said_whose_confidences_are_stated(folder):
    _, output = attack(folder, "AssignmentLinkage")
    instead = "that of ExpectationMaximizationLinkage in the same answers is written instead"
    assert f"AssignmentLinkage states no confidence; {instead}" in output
    _, output = attack(folder, "GroupLinkage")
    assert "states no confidence" not in output


@pytest.mark.thorough
def test_a_channel_of_another_release_is_remarked_on(folder):
    _, output = attack(folder, "LikelihoodAssignment", "--channel", folder / "groups.toml", released="noisy")
    assert "of 80 released rows stem from no candidate" in output
    _, output = attack(folder, "LikelihoodAssignment", "--channel", folder / "noisy.toml", released="noisy")
    assert "stem from no candidate" not in output


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("kind", ["semicolon", "floats", "shuffled columns"])
def test_candidates_written_in_another_way_are_read(folder, kind):
    people = pd.read_csv(folder / "people.csv")
    if kind == "floats":
        people = people.astype({"age": float, "balance": float})
    if kind == "shuffled columns":
        people = people[[*reversed(people.columns)]]
    people.to_csv(folder / "other-way.csv", index=False, sep=";" if kind == "semicolon" else ",")
    answer, _ = attack(folder, "AssignmentLinkage", candidates="other-way.csv")
    assert (answer["candidate_row"] == pd.read_csv(folder / "copy-who.csv")["record"]).mean() > 0.95


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("name", ["NearestNeighbour", "FellegiSunter", "ExpectationMaximizationLinkage"])
@pytest.mark.parametrize("rows", [1, 20])
def test_one_row_and_constant_columns(tmp_path, name, rows):
    pd.DataFrame({"age": [1] * rows, "job": ["x"] * rows}).to_csv(tmp_path / "same.csv", index=False)
    done = invoke("attack", name, "-r", tmp_path / "same.csv", "-c", tmp_path / "same.csv")
    assert done.exit_code == 0, done.output
    assert f"expected to be right: {1 / rows:.1%}" in done.stderr


@pytest.mark.thorough
def test_parameters_roles_parquet_and_seeds(folder):
    parameters = ("-p", "metric=euclidean", "--roles", folder / "roles.toml")
    first, again = (
        attack(folder, "NearestNeighbour", *parameters, released="pram", candidates="people.parquet")[0]
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.thorough
def test_the_answer_goes_to_standard_output_and_remarks_elsewhere(folder):
    done = invoke("attack", "AssignmentLinkage", "-r", folder / "copy.csv", "-c", folder / "people.csv")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "released_row,candidate_row,confidence"
    assert len(lines) == 81
    assert "expected to be right" in done.stderr


@pytest.mark.thorough
def test_candidates_that_lack_a_column_are_compared_in_the_others(folder):
    pd.read_csv(folder / "people.csv").drop(columns="y").to_csv(folder / "less.csv", index=False)
    answer, output = attack(folder, "AssignmentLinkage", "--roles", folder / "roles.toml", candidates="less.csv")
    assert "the candidates lack y" in output
    assert (answer["candidate_row"] == pd.read_csv(folder / "copy-who.csv")["record"]).mean() > 0.9


@pytest.mark.thorough
def test_more_rows_than_candidates_leave_rows_out(folder):
    pd.read_csv(folder / "people.csv").head(20).to_csv(folder / "few.csv", index=False)
    output = folder / "few-answer.csv"
    done = invoke("attack", "AssignmentLinkage", "-r", folder / "copy.csv", "-c", folder / "few.csv", "-o", output)
    assert done.exit_code == 0, done.output
    assert "20 of 80 released rows answered" in done.output
    assert pd.read_csv(output)["candidate_row"].is_unique


@pytest.mark.thorough
def test_rows_that_cannot_all_be_right_are_not_expected_to_be(folder):
    pd.read_csv(folder / "people.csv").head(8).to_csv(folder / "few.csv", index=False)
    for name in ("NearestNeighbour", "AssignmentLinkage", "ExpectationMaximizationLinkage"):
        done = invoke("attack", name, "-r", folder / "copy.csv", "-c", folder / "few.csv")
        assert done.exit_code == 0, done.output
        assert "80 released rows outnumber 8 candidates" in done.stderr
        assert "72 or more stem from no candidate" in done.stderr
        assert "expected to be right" not in done.stderr
        assert "confidence 0.95" not in done.stderr
    done = invoke("attack", "NearestNeighbour", "-r", folder / "copy.csv", "-c", folder / "people.csv")
    assert "outnumber" not in done.stderr
    assert "expected to be right" in done.stderr


@pytest.mark.parametrize(
    ("misspelt", "words"),
    [
        ('[columns.occc]\ntype = "category"\n', "table [columns.occc]: there is no column 'occc' in "),
        ('quasi_identifiers = ["zipp"]\n', "key 'quasi_identifiers': there is no column 'zipp' in "),
        ('sensitive = ["yy"]\n', "key 'sensitive': there is no column 'yy' in "),
    ],
)
def test_roles_of_columns_that_are_in_neither_file_are_refused(folder, misspelt, words):
    (folder / "misspelt.toml").write_text(misspelt)
    given = ["-c", folder / "people.csv", "--roles", folder / "misspelt.toml"]
    assert_refused(invoke("attack", "NearestNeighbour", "-r", folder / "copy.csv", *given), words)


def test_notes_on_how_two_files_were_read_name_them(folder):
    released, candidates = folder / "copy.csv", folder / "people.csv"
    done = invoke("attack", "NearestNeighbour", "-r", released, "-c", candidates)
    how = "fields are separated by a comma, inferred from the first lines"
    said = [line for line in done.stderr.splitlines() if how in line]
    assert said == [f"note: {released}: {how}", f"note: {candidates}: {how}"]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("lacking", ["released", "candidates", "both, an identifier", "both, a person"])
def test_roles_may_name_a_column_that_one_file_lacks_or_an_identifier(folder, lacking):
    people = pd.read_csv(folder / "people.csv")
    less = {"released": people, "candidates": people}
    if lacking in less:
        less[lacking] = people.drop(columns="job")
    roles = {"both, an identifier": 'identifiers = ["name"]\n', "both, a person": 'person = "name"\n'}
    (folder / "named.toml").write_text(roles.get(lacking, '[columns.job]\ntype = "category"\n'))
    for name, table in less.items():
        table.to_csv(folder / f"{name}-less.csv", index=False)
    files = ["-r", folder / "released-less.csv", "-c", folder / "candidates-less.csv"]
    done = invoke("attack", "NearestNeighbour", *files, "--roles", folder / "named.toml")
    assert done.exit_code == 0, done.output


UNSEEN = {"age": 119, "balance": 10**7, "job": "astronaut", "marital": "complicated"}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("released", "name"),
    [
        *((made, "LikelihoodAssignment") for made in ("noisy", "pram", "groups", "ranks", "means", "sample", "vector")),
        ("coarse", "LikelihoodAssignment"),
        *(("pram", name) for name in ("NearestNeighbour", "EnsembleLinkage", "GroupLinkage")),
    ],
)
def test_decoys_may_have_values_that_nobody_of_the_release_has(folder, released, name):
    people = pd.read_csv(folder / "people.csv")
    pd.concat([people, people.head(5).assign(**UNSEEN)]).to_csv(folder / "with-decoys.csv", index=False)
    channel = ("--channel", folder / f"{released}.toml")
    answer, output = attack(folder, name, *channel, released=released, candidates="with-decoys.csv")
    parts = tomllib.loads((folder / f"{released}.toml").read_text())["part"]
    stated = {part["column"] for part in parts if "domain" in part}
    stated |= {name for part in parts if "domains" in part for name in part["names"]}
    # Noise and drawing a sample have no domains.
    assert bool(stated) == (released not in ("noisy", "sample"))
    for column in UNSEEN:
        said = f"{column}: 5 of 85 candidates lie outside the domain that the channel states"
        assert (said in output) == (column in stated)
    if name == "LikelihoodAssignment":
        # They take nobody's place and nobody's probability; of people who are equally likely another may be answered.
        alone, _ = attack(folder, name, *channel, released=released)
        assert answer["candidate_row"].max() < 80
        assert answer["confidence"].mean() == pytest.approx(alone["confidence"].mean(), abs=0.01)


def test_candidates_outside_the_channel_are_told_from_those_outside_declared_domains(folder):
    people = pd.read_csv(folder / "people.csv")
    people.head(5).assign(age=150).to_csv(folder / "old.csv", index=False)
    given = ["-r", folder / "copy.csv", "-c", folder / "old.csv"]
    assert_refused(
        invoke("attack", "NearestNeighbour", *given, "--roles", folder / "roles.toml"), "lies outside 0 to 120"
    )
    people.head(5).assign(age=30.5).to_csv(folder / "old.csv", index=False)
    given = ["-r", folder / "groups.csv", "-c", folder / "old.csv", "--channel", folder / "groups.toml"]
    assert_refused(invoke("attack", "NearestNeighbour", *given), "is not an integer")


@pytest.mark.thorough
def test_categories_that_only_the_release_names_are_no_error_unless_domains_are_declared(folder):
    people = pd.read_csv(folder / "copy.csv")
    people.loc[0, "job"] = "astronaut"
    people.to_csv(folder / "unseen.csv", index=False)
    (folder / "strict.toml").write_text('[columns.job]\ntype = "category"\ncategories = ["admin."]\n')
    done = invoke("attack", "AssignmentLinkage", "-r", folder / "unseen.csv", "-c", folder / "people.csv")
    assert done.exit_code == 0
    done = invoke(
        "attack",
        "AssignmentLinkage",
        "-r",
        folder / "unseen.csv",
        "-c",
        folder / "people.csv",
        "--roles",
        folder / "strict.toml",
    )
    assert_refused(done, "job")


def test_no_confidence_is_said_where_there_is_none(folder, monkeypatch):
    monkeypatch.setattr("scenarios.tables.linkage_files.MOST_LEARNED", 10)
    answer, output = attack(folder, "AssignmentLinkage")
    assert answer["confidence"].isna().all()
    assert "no confidence can be stated" in output


@pytest.mark.thorough
def test_a_sample_of_rows_is_drawn_by_the_seed_and_scored_alone(folder):
    whole, _ = attack(folder, "NearestNeighbour")
    answers, output = attack(folder, "NearestNeighbour", "--targets", 20)
    rows = answers["released_row"].to_numpy()
    assert rows.size == 20
    assert (np.diff(rows) > 0).all()
    # Nobody's row depends on other rows, and no two candidates are alike.
    assert answers["candidate_row"].tolist() == whole["candidate_row"].to_numpy()[rows].tolist()
    assert "note: answers are about 20 of 80 released rows, drawn at random by --seed\n" in output
    assert "20 of 20 drawn rows answered" in output
    assert re.search(r"right: \d+ of 20 rows", output)
    assert "alone" not in output
    assert attack(folder, "NearestNeighbour", "--targets", 20)[0].equals(answers)
    assert attack(folder, "NearestNeighbour", "--targets", 20, "--seed", 1)[0]["released_row"].tolist() != rows.tolist()
    everything, output = attack(folder, "NearestNeighbour", "--targets", 80)
    assert everything.equals(whole)
    assert "drawn" not in output


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("name", ["AssignmentLinkage", "FellegiSunter"])
def test_too_many_pairs_are_answered_for_a_sample_that_names_the_limit(folder, monkeypatch, name):
    monkeypatch.setattr("scenarios.tables.sampled_release.MOST_PAIRS", 80 * 30)
    answers, output = attack(folder, name)
    assert len(answers) == 30
    assert answers["candidate_row"].is_unique
    assert "answers are about 30 of 80 released rows, drawn at random by --seed: all rows and candidates" in output
    assert "6,400 pairs, more than the limit of 2,400; --targets N asks about N rows" in output
    assert f"{name} matches the drawn rows alone" in output
    right = answers["candidate_row"] == pd.read_csv(folder / "copy-who.csv")["record"][answers["released_row"]].values
    assert right.mean() > 0.9


def test_rows_that_outnumber_candidates_are_no_surer_in_a_sample(folder):
    pd.read_csv(folder / "people.csv").head(20).to_csv(folder / "few.csv", index=False)
    given = ("-r", folder / "copy.csv", "-c", folder / "few.csv", "--targets", 10)
    done = invoke("attack", "ExpectationMaximizationLinkage", *given)
    assert done.exit_code == 0, done.output
    assert "80 released rows outnumber 20 candidates" in done.stderr
    assert "assume that every drawn row stems from a candidate, which may be wrong" in done.stderr
    assert "10 of 10 drawn rows answered; no expected share" in done.stderr


@pytest.mark.thorough
def test_blocked_linkage_says_how_it_searched(folder, monkeypatch):
    answer, output = attack(folder, "BlockedLinkage", "-p", "dense=0")
    assert "note: every row was compared with all 80 candidates" in output
    assert (answer["candidate_row"] == pd.read_csv(folder / "copy-who.csv")["record"]).mean() > 0.95
    monkeypatch.setattr("attacks.linkage.blocks.answers_in_blocks.FEW_ROWS", 10)
    answer, output = attack(folder, "BlockedLinkage", "-p", "dense=0")
    assert "note: candidates were looked up by " in output
    assert "80 of 80 released rows answered" in output
    assert (answer["candidate_row"] == pd.read_csv(folder / "copy-who.csv")["record"]).mean() > 0.95


@pytest.mark.thorough
def test_blocked_linkage_answers_for_a_sample_of_a_table_that_cannot_be_searched(folder, monkeypatch):
    monkeypatch.setattr("attacks.linkage.blocks.answers_in_blocks.FEW_ROWS", 10)
    monkeypatch.setattr("attacks.linkage.blocks.answers_in_blocks.SAMPLED_PAIRS", 80 * 20)
    monkeypatch.setattr("attacks.linkage.blocks.answers_in_blocks.LEAST_RECALL", 2.0)
    answer, output = attack(folder, "BlockedLinkage", "-p", "dense=0")
    assert len(answer) == 20
    assert "note: answers are about 20 of 80 released rows, drawn at random by --seed: no columns tell enough" in output
    assert "20 of 20 drawn rows answered" in output
    who = pd.read_csv(folder / "copy-who.csv")["record"].to_numpy()
    right = (answer["candidate_row"] == who[answer["released_row"]]).sum()
    assert f"right: {right} of 20 rows" in output
    drawn = attack(folder, "BlockedLinkage", "-p", "dense=0", "--targets", 30)[0]["released_row"]
    assert drawn.size == 20


def assert_refused(done, words):
    assert done.exit_code == 2, done.output
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert len(errors) == 1
    assert words in errors[0]


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["LikelihoodAssignment"], "channel"),
        (["LearnedLinkage"], "repeat the defense"),
        (["BestPosterior"], "links tables"),
        (["NoSuchAttack"], "no attack"),
        (["NearestNeighbour", "-p", "metric=far"], "metric"),
        (["NearestNeighbour", "-p", "speed=1"], "speed"),
        (["LikelihoodAssignment", "--channel", "people.csv"], "people.csv"),
        (["AssignmentLinkage", "--truth", "people.csv"], "released_row"),
        (["AssignmentLinkage", "-c", "none.csv"], "none.csv"),
        (["AssignmentLinkage", "-c", "other.csv"], "none of the released columns"),
        (["AssignmentLinkage", "-c", "words.csv", "--roles", "roles.toml"], "age"),
        (["AssignmentLinkage", "--truth", "beyond.csv"], "record"),
        (["AssignmentLinkage", "-o", "people.csv", "--force"], "input"),
        (["AssignmentLinkage", "-o", "other.csv"], "exists"),
        (["AssignmentLinkage", "-r", "empty.csv"], "no record"),
        (["AssignmentLinkage", "-c", "empty.csv"], "no record"),
        (["AssignmentLinkage", "--truth", "sample-who.csv"], "40 released rows"),
        (["LikelihoodAssignment", "--channel", "none.toml"], "Error: none.toml: there is no such file"),
        (["NearestNeighbour", "--targets", "0"], "--targets"),
        (["BlockedLinkage", "-p", "pairs=0"], "pairs"),
        (["BlockedLinkage", "-p", "pairs=many"], "pairs"),
        (["BlockedLinkage", "-p", "dense=-1"], "dense"),
    ],
)
def test_bad_input_is_refused_in_one_line(folder, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    pd.DataFrame({"height": [1, 2]}).to_csv("other.csv", index=False)
    pd.DataFrame({"age": ["old", "young"]}).to_csv("words.csv", index=False)
    pd.DataFrame({"released_row": [0], "record": [80]}).to_csv("beyond.csv", index=False)
    pd.DataFrame({"age": []}).to_csv("empty.csv", index=False)
    given = [arguments[0], "-r", "copy.csv", "-c", "people.csv", *arguments[1:]]
    assert_refused(invoke("attack", *given), words)


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        (lambda text: text[: len(text) // 2], "TOML"),
        (lambda text: text.replace("deviation", "deviaton", 1), "deviat"),
        (lambda text: re.sub("deviation = .*", "deviation = 'far'", text), "must be a number"),
        (lambda text: re.sub("deviation = .*", "deviation = nan", text), "finite"),
        (lambda text: text.replace('"noise"', '"noisy"', 1), "noisy"),
        (lambda text: "sampling_rate = 'half'", "sampling_rate"),
        (lambda text: "sampling_rate = 2", "sampling_rate"),
        (lambda text: "part = 3", "[[part]]"),
        (lambda text: "[part]\nkind = 'noise'", "[[part]]"),
        (lambda text: "[[part]]\nkind = 'containment'\ncolumn = 'job'\ndomain = 3", "domain"),
        (lambda text: "[[part]]\nkind = 'containment'\ncolumn = ['job']\ndomain = { low = 0, high = 1 }", "column"),
        (lambda text: "[[part]]\nkind = 'containment'\ncolumn = 'job'\ndomain = { categories = 'ab' }", "categories"),
        (lambda text: "[[part]]\nkind = 'containment'\ncolumn = 'job'\ndomain = { lowest = 1 }", "lowest"),
    ],
)
def test_damaged_channels_are_refused_in_one_line(folder, damaged, words):
    channel = folder / "damaged.toml"
    channel.write_text(damaged((folder / "noisy.toml").read_text()))
    done = invoke(
        "attack",
        "LikelihoodAssignment",
        "-r",
        folder / "noisy.csv",
        "-c",
        folder / "people.csv",
        "--channel",
        channel,
    )
    assert_refused(done, words)
    assert "damaged.toml" in done.stderr


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
def test_where_candidates_name_the_person_people_are_scored(tmp_path, named):
    """Each row equals another row of the same person, who is answered rightly by either; two people are not told."""
    rows = pd.DataFrame({"who": [" a", "a", "b", "c", "c", "c"], "age": [1, 1, 9, 5, 5, 5], "day": [1, 1, 1, 9, 9, 5]})
    rows.to_csv(tmp_path / "people.csv", index=False)
    rows.drop(columns="who").to_csv(tmp_path / "released.csv", index=False)
    candidates = rows if named else rows.drop(columns="who")
    candidates.to_csv(tmp_path / "candidates.csv", index=False)
    (tmp_path / "roles.toml").write_text('person = "who"\n')
    # The first row of `a` stems from the second record, and that of `b` from a record of `c`.
    pd.DataFrame({"released_row": range(6), "record": [1, 0, 4, 3, 4, 5]}).to_csv(tmp_path / "truth.csv", index=False)
    files = ["-r", tmp_path / "released.csv", "-c", tmp_path / "candidates.csv", "--roles", tmp_path / "roles.toml"]
    output = invoke("attack", "SweeneyJoin", *files, "--truth", tmp_path / "truth.csv", "-o", tmp_path / "a.csv").output
    if named:
        # Person `a` is right by both rows, and `c` by three of four.
        assert "right: 1.8 of 2 people, each by the mean over the person's rows, = 87.5%" in output
        assert "by chance 41.67%" in output
    else:
        assert "of 6 rows that stem from a candidate" in output
    assert ("rows are counted, not people: the candidates lack who" in output) == (not named)


PEOPLE = "name,town,year\nanna smith,kyoto,1970\nanna smith,kyoto,1970\nbob jones,osaka,1981\ncarl white,nara,1990\n"


def test_a_table_is_linked_with_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(PEOPLE + "".join(f"n{i} m{i},t{i % 5},{1950 + i}\n" for i in range(40)))
    who = pd.DataFrame({"released_row": range(44), "record": [0, 0, *range(2, 44)]})
    who.to_csv(tmp_path / "who.csv", index=False)
    done = invoke("attack", "--self", "-r", "t.csv", "-o", "groups.csv", "--truth", "who.csv")
    assert done.exit_code == 0, done.output
    answer = pd.read_csv(tmp_path / "groups.csv")
    assert answer[["released_row", "group"]].to_numpy().tolist() == [[0, 0], [1, 0]]
    assert "rows of people who occur several times: 2 of 44, in groups: 1; expected to be right: " in done.output
    assert "pairs of rows: precision 100.0%, recall 100.0%, F1 1.000" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NearestNeighbour", "--self"], "--self links one table with itself, and takes no ASSIGNMENT"),
        (["--self", "-c", "t.csv"], "--self links one table with itself, and takes no -c"),
        (["--self", "--targets", "3"], "--self links one table with itself, and takes no --targets"),
        ([], "ASSIGNMENT, the linkage attack, is missing; --self does without"),
        (["NearestNeighbour"], "-c, the table of candidates, is missing; --self does without"),
    ],
)
def test_what_one_table_needs_is_told_from_what_two_need(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(PEOPLE)
    done = invoke("attack", "-r", "t.csv", *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_a_note_names_the_attack_that_finds_more(tmp_path, monkeypatch):
    """Two numbers were kept, and twelve columns shuffled: 80 rows."""
    monkeypatch.chdir(tmp_path)
    rng = generator(9, "shuffled columns")
    people = pd.DataFrame({"x": rng.permutation(1000)[:80], "y": rng.permutation(1000)[:80]})
    released = people.copy()
    for number in range(12):
        people[f"c{number}"] = rng.choice(["a", "b"], 80)
        released[f"c{number}"] = rng.permutation(people[f"c{number}"].to_numpy())
    people.to_csv("people.csv", index=False)
    released.to_csv("released.csv", index=False)
    done = invoke("attack", "NearestNeighbour", "-r", "released.csv", "-c", "people.csv", "-o", "answer.csv")
    assert done.exit_code == 0, done.output
    [note] = [line for line in done.stderr.splitlines() if "is expected to find" in line]
    expected, stated = map(float, re.findall(r"([\d.]+)%", note))
    assert expected > 90 > stated + 5
    right = (pd.read_csv("answer.csv")["candidate_row"] == np.arange(80)).mean()
    assert stated / 100 == pytest.approx(right, abs=0.1)


def test_no_other_attack_is_named_where_it_finds_no_more(folder):
    assert "is expected to find" not in attack(folder, "NearestNeighbour")[1]


@pytest.mark.parametrize(("name", "unused"), [("NearestNeighbour", True), ("GroupLinkage", False)])
def test_a_note_says_that_the_channel_was_not_used(folder, name, unused):
    _, output = attack(folder, name, "--channel", folder / "copy.toml")
    assert (f"{name} makes no use of --channel; LikelihoodAssignment" in output) == unused
