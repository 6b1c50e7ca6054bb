"""The bundle for Codabench: its scoring program gives the tournament's own numbers and betrays no answer."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile

import pytest
import yaml
from PIL import Image
from run_tools import invoke
from tournament_tools import HOUR, START, opened, score

from scenarios.tables.toml.json_text import json_text
from scenarios.tournament.codabench import make_submission
from scenarios.tournament.codabench.bundle import COLUMNS, check_image, export_codabench, section
from scenarios.tournament.codabench.scoring_program import run
from scenarios.tournament.host.decisions import disqualify
from scenarios.tournament.rules.folder import csv_bytes
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.rules.standings import standings
from scenarios.tournament.rules.submitting import submit_content

IMAGE = "name/tournament:1"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament with two tables and two attacks, its bundle before and after the publication, and its scores."""
    folder = tmp_path_factory.mktemp("codabench")
    cup = opened(folder / "cup", originals=20, candidates=40)
    early = exported(cup, folder / "early.zip")
    hand_in(cup, "kyoto", cup.frame("kyoto"))
    hand_in(cup, "osaka", cup.frame("osaka").iloc[:15].assign(age="*", balance="*", job="*"))
    cup.publish()
    cup.attack("kyoto", "osaka", range(15), cup.truth("osaka"))
    cup.attack("nara", "kyoto", range(9), cup.truth("kyoto")[:9])
    late = exported(cup, folder / "late.zip")
    results = score_shares(cup.tournament, (0.5, 1.0), 1)[0.5]
    return cup, early, late, by_team(cup, results), results


def hand_in(cup, team, table):
    """Submit a table without measuring its utility, as the site does."""
    submit_content(cup.tournament, team, f"{team}_anonymized.csv", csv_bytes(table), START + HOUR, measure=False)


def exported(cup, path, share=0.5):
    export_codabench(cup.tournament, path, IMAGE, share)
    return unzipped(path.read_bytes())


def expected_at(cup, share):
    """Standing of each team by the tournament's own scoring of a share of the rows."""
    return by_team(cup, score(cup.tournament, share, 1))


def by_team(cup, results):
    return {one.team: one for one in standings(cup.tournament.settings.teams, results)}


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert len(set(archive.namelist())) == len(archive.namelist())
        return {name: archive.read(name) for name in archive.namelist()}


def prepared(folder, bundle, phase, cup, team, contents):
    """Input and output of the scoring program, as the platform makes them from a submission."""
    for place in ("input/ref", "input/res", "output"):
        (folder / place).mkdir(parents=True)
    for name, data in unzipped(bundle[f"reference_{phase}.zip"]).items():
        (folder / "input" / "ref" / name).write_bytes(data)
    files = []
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.to_csv(index=False).encode())
        files.append(folder / name)
    original = cup.tournament.team_folder(team) / f"{team}_original.csv"
    make_submission.write_submission(original, files, folder / "submission.zip")
    for name, data in unzipped((folder / "submission.zip").read_bytes()).items():
        (folder / "input" / "res" / name).write_bytes(data)
    # The platform adds a file of its own.
    (folder / "input" / "res" / "metadata").write_text("exitCode: 0\n")
    return folder / "input", folder / "output"


def secrets_of(cup):
    """Texts that nobody but the host may see: the answers, the seed, and each original record."""
    secret = cup.tournament.secret
    originals = [
        line
        for team in cup.tournament.settings.teams
        for line in cup.tournament.original_path(team).read_text().splitlines()[1:]
    ]
    return [json.dumps(one) for one in secret["answers"].values()], originals


def run_program(bundle, folder, source, output):
    """Run the scoring program as a process of its own, with the modules of the bundle alone."""
    program = folder / "program"
    program.mkdir()
    for name, data in unzipped(bundle["scoring_program.zip"]).items():
        (program / name).write_bytes(data)
    command = yaml.safe_load((program / "metadata.yaml").read_text())["command"].split(" ")
    assert command == ["python3", "/app/program/score.py", "/app/input", "/app/output"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-I", program / "score.py", source, output],
        cwd=program,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


class TestScoringProgram:
    @pytest.mark.thorough
    def test_a_table_has_the_tournaments_numbers(self, played, tmp_path):
        cup, early, _, expected, results = played
        table = cup.frame("osaka").iloc[:15].assign(age="*", balance="*", job="*")
        source, output = prepared(tmp_path, early, "anonymize", cup, "osaka", {"osaka_anonymized.csv": table})
        done = run_program(early, tmp_path, source, output)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        numbers = json.loads((output / "scores.json").read_text())
        baselines = [one for one in results if one.defense == "osaka" and str(one.attack).startswith("baseline:")]
        releases = [one for one in results if one.attack is None and one.defense == "osaka"]
        (standing,) = standings(["osaka"], [*releases, *baselines])
        assert numbers == {
            "score": standing.defense,
            "utility": expected["osaka"].utility,
            "utility_table": expected["osaka"].utility_table,
            "utility_record": expected["osaka"].utility_record,
            "advantage": standing.worst.advantage,
        }
        assert 0 < numbers["score"] < 1
        assert "Built-in attacks" in (output / "detailed_results.html").read_text()
        assert {path.name for path in output.iterdir()} == {"scores.json", "detailed_results.html"}

    @pytest.mark.thorough_beyond(1)
    @pytest.mark.parametrize("share", [0.5, 1.0])
    def test_attacks_have_the_tournaments_numbers(self, played, tmp_path, share):
        cup, *_ = played
        late, expected = exported(cup, tmp_path / "late.zip", share), expected_at(cup, share)
        for team, target in (("kyoto", "osaka"), ("nara", "kyoto")):
            folder = cup.tournament.team_folder(team)
            name = f"{team}_attack_{target}.csv"
            content = {name: (folder / name).read_bytes()}
            source, output = prepared(tmp_path / team, late, "attack", cup, team, content)
            assert run([str(source), str(output)]) == 0
            numbers = json.loads((output / "scores.json").read_text())
            assert numbers == {"score": expected[team].attack, "attacked": 1.0}
            page = (output / "detailed_results.html").read_text()
            answers, originals = secrets_of(cup)
            assert not [text for text in (*answers, *originals) if text in page]
        assert expected["kyoto"].attack > 0.9
        # Nara attacked one of two tables, the other counts 0. How many of its nine right rows count differs by share.
        assert 0 < expected["nara"].attack < 0.5
        other = expected_at(cup, 1.5 - share)["nara"].attack
        assert abs(expected["nara"].attack - other) > 0.01

    @pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.long)])
    def test_a_wrong_table_is_refused_by_row_and_column(self, played, tmp_path, capsys, alone):
        cup, early, *_ = played
        wrong = cup.frame("kyoto").astype(object)
        wrong.loc[[2, 5], "age"] = "20-29"
        wrong.loc[7, "original_row"] = 20
        source, output = prepared(tmp_path, early, "anonymize", cup, "kyoto", {"kyoto_anonymized.csv": wrong})
        if alone:
            done = run_program(early, tmp_path, source, output)
            code, shown, errors = done.returncode, done.stdout, done.stderr
        else:
            code, (shown, errors) = run([str(source), str(output)]), capsys.readouterr()
        assert (code, shown) == (2, "")
        assert errors.splitlines() == [
            "kyoto_anonymized.csv, row 2 (line 4), column 'age': '20-29' is no number; write [20,29] (also in row 5)",
            "kyoto_anonymized.csv, row 7 (line 9), column 'original_row': '20' is no row number from 0 to 19; "
            "rows count from 0, below the header",
        ]
        assert not list(output.iterdir())

    @pytest.mark.thorough_beyond(7)
    @pytest.mark.parametrize(
        ("team", "phase", "contents", "message"),
        [
            ("kyoto", "anonymize", {}, "takes kyoto_anonymized.csv alone; the submission has none"),
            ("kyoto", "anonymize", {"a.csv": b"", "b.csv": b""}, "the submission has a.csv, b.csv"),
            ("kyoto", "anonymize", {"osaka_anonymized.csv": b"x"}, "is named as the table of osaka, not of kyoto"),
            ("kyoto", "anonymize", {"kyoto_attack_osaka.csv": b"x"}, "attacks are submitted in the attack phase"),
            ("kyoto", "attack", {}, "the submission has no CSV file"),
            ("kyoto", "attack", {"kyoto_anonymized.csv": b"x"}, "are named kyoto_attack_OTHER.csv"),
            ("kyoto", "attack", {"kyoto_attack_kyoto.csv": b"x"}, "kyoto cannot attack its own table"),
            ("kyoto", "attack", {"nara_attack_osaka.csv": b"x"}, "is named as an attack by 'nara', not by kyoto"),
            ("kyoto", "attack", {"kyoto_attack_nara.csv": b"x"}, "nara has submitted no table"),
            ("kyoto", "attack", {"kyoto_attack_tokyo.csv": b"x"}, "there is no team 'tokyo'"),
            (
                "kyoto",
                "attack",
                {"kyoto_attack_osaka.csv": b"released_row,candidate_row\n0,40\n"},
                "row 0 (line 2), column 'candidate_row': '40' is no row number from 0 to 39",
            ),
            ("kyoto", "attack", {"\N{SNOWMAN}.csv": b"x", ".hidden.csv": b"x"}, "kyoto_attack_OTHER.csv"),
        ],
    )
    def test_other_submissions_are_refused(self, played, tmp_path, capsys, team, phase, contents, message):
        cup, _, late, *_ = played
        source, output = prepared(tmp_path, late, phase, cup, team, contents)
        assert run([str(source), str(output)]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert len(said.splitlines()) == 1
        assert str(tmp_path) not in said
        assert not list(output.iterdir())

    @pytest.mark.thorough_beyond(3)
    @pytest.mark.parametrize("change", ["none", "two", "wrong", "of another team", "of no team", "not text"])
    def test_the_key_shows_whose_the_files_are(self, played, tmp_path, capsys, change):
        cup, early, *_ = played
        contents = {"kyoto_anonymized.csv": cup.frame("kyoto")}
        source, output = prepared(tmp_path, early, "anonymize", cup, "kyoto", contents)
        key = source / "res" / "kyoto.key"
        if change == "none":
            key.unlink()
        elif change == "two":
            (source / "res" / "osaka.key").write_bytes(key.read_bytes())
        elif change == "wrong":
            key.write_text(hashlib.sha256(b"a guess").hexdigest())
        elif change == "not text":
            key.write_bytes(b"\xff\xfe")
        else:
            key.rename(key.with_name("osaka.key" if change == "of another team" else "no team.key"))
        assert run([str(source), str(output)]) == 2
        assert "make_submission.py" in capsys.readouterr().err
        assert not list(output.iterdir())

    def test_before_the_publication_there_is_nothing_to_attack(self, played, tmp_path, capsys):
        cup, early, *_ = played
        contents = {"kyoto_attack_osaka.csv": b"released_row,candidate_row\n0,1\n"}
        source, output = prepared(tmp_path, early, "attack", cup, "kyoto", contents)
        assert run([str(source), str(output)]) == 2
        assert "no other table is published yet" in capsys.readouterr().err

    @pytest.mark.thorough_beyond(2)
    @pytest.mark.parametrize("damage", ["gone", "cut", "a damaged file"])
    def test_damaged_reference_data_tell_a_participant_nothing(self, played, tmp_path, capsys, damage):
        cup, early, *_ = played
        contents = {"kyoto_anonymized.csv": cup.frame("kyoto")}
        source, output = prepared(tmp_path, early, "anonymize", cup, "kyoto", contents)
        reference = source / "ref" / "tournament.zip"
        if damage == "gone":
            reference.unlink()
        elif damage == "cut":
            reference.write_bytes(reference.read_bytes()[:1000])
        else:
            inside = unzipped(reference.read_bytes())
            inside["host/candidates/kyoto_candidate.csv"] = b"age\nsecret\n"
            with zipfile.ZipFile(reference, "w") as archive:
                for name, data in inside.items():
                    archive.writestr(name, data)
        assert run([str(source), str(output)]) == 1
        said = capsys.readouterr().err
        assert said.startswith("scoring failed (")
        assert "secret" not in said
        assert not list(output.iterdir())

    def test_a_disqualified_team_is_refused(self, tmp_path, capsys):
        cup = opened(tmp_path / "cup", originals=10, candidates=20)
        disqualify(cup.tournament, "kyoto", "shared its originals", START + HOUR)
        bundle = exported(cup, tmp_path / "a.zip")
        contents = {"kyoto_anonymized.csv": cup.frame("kyoto")}
        source, output = prepared(tmp_path / "run", bundle, "anonymize", cup, "kyoto", contents)
        assert run([str(source), str(output)]) == 2
        assert capsys.readouterr().err == "team kyoto is disqualified: shared its originals\n"

    def test_it_needs_two_folders(self, capsys):
        assert run(["input"]) == 2
        assert "usage" in capsys.readouterr().err


class TestBundle:
    def test_the_competition_refers_to_its_files(self, played):
        _, early, late, *_ = played
        for bundle in (early, late):
            content = yaml.safe_load(bundle["competition.yaml"])
            tasks = {one["index"]: one for one in content["tasks"]}
            files = [content["image"], content["terms"], *(one["file"] for one in content["pages"])]
            files += [tasks[one][name] for one in tasks for name in ("scoring_program", "reference_data")]
            for phase in content["phases"]:
                files += [phase[name] for name in ("starting_kit", "public_data") if name in phase]
                assert set(phase["tasks"]) <= set(tasks)
            assert not [name for name in files if not bundle[name]]
            # The platform finds the top folder of an archive's files and moves its content up: there must be none.
            inner = [name for file in files if file.endswith(".zip") for name in unzipped(bundle[file])]
            assert not [name for name in inner if "/" in name]
            assert (content["version"], content["docker_image"]) == (2, IMAGE)
            assert not content["can_participants_make_submissions_public"]
            assert not content["show_detailed_results_in_leaderboard"]
            (board,) = content["leaderboards"]
            assert [one["key"] for one in board["columns"]] == list(COLUMNS)
        assert Image.open(io.BytesIO(late["logo.png"])).size == (240, 240)

    def test_phases_follow_each_other_in_utc(self, played):
        _, _, late, *_ = played
        first, second = yaml.safe_load(late["competition.yaml"])["phases"]
        # As strings: the platform cuts the time of day off what YAML reads as a date.
        assert (first["start"], first["end"]) == ("2030-01-01 12:00:00", "2030-01-02 12:00:00")
        assert (second["start"], second["end"]) == (first["end"], "2030-01-03 12:00:00")

    @pytest.mark.thorough
    def test_two_rounds_have_three_phases(self, tmp_path):
        again = START + 30 * HOUR
        cup = opened(tmp_path / "cup", rounds=2, anonymize_again_until=again.isoformat())
        content = yaml.safe_load(exported(cup, tmp_path / "a.zip")["competition.yaml"])
        assert [one["name"] for one in content["phases"]] == ["Anonymize", "Anonymize again", "Attack"]
        assert [one["tasks"] for one in content["phases"]] == [[0], [0], [1]]
        cup.publish()
        bundle = exported(cup, tmp_path / "b.zip")
        assert set(unzipped(bundle["public_anonymize-again.zip"])) == {
            f"{team}_candidate.csv" for team in cup.tournament.settings.teams
        }

    def test_what_participants_get_holds_no_secret(self, played):
        cup, early, late, *_ = played
        answers, originals = secrets_of(cup)
        own = [cup.tournament.original_path(team).read_bytes() for team in cup.tournament.settings.teams]
        for bundle in (early, late):
            for name, data in bundle.items():
                if name.startswith("reference_"):
                    continue
                for inner, content in (unzipped(data) if name.endswith(".zip") else {name: data}).items():
                    files = unzipped(content) if inner.endswith(".zip") else {inner: content}
                    for last, text in files.items():
                        assert not [one for one in answers if one.encode() in text], (name, last)
                        assert not [one for one in own if make_submission.key(one).encode() in text], (name, last)
                        assert b"original_row," not in text.partition(b"\n")[0], (name, last)
                        # Published candidate files and tables hold records, without saying whose.
                        if "public" not in name:
                            assert not [one for one in originals if one.encode() in text], (name, last)
        assert "public_attack.zip" not in early
        assert set(unzipped(late["public_attack.zip"])) == {
            *(f"{team}_candidate.csv" for team in cup.tournament.settings.teams),
            *(f"{team}_anonymized.csv" for team in ("kyoto", "osaka")),
        }

    def test_only_reference_data_of_the_attack_hold_tables(self, played):
        _, early, late, *_ = played
        for bundle, phase, count in ((early, "attack", 0), (late, "anonymize", 0), (late, "attack", 2)):
            inside = unzipped(unzipped(bundle[f"reference_{phase}.zip"])["tournament.zip"])
            assert sum(name.startswith("host/submissions/") for name in inside) == count

    def test_the_image_has_the_packages_of_this_installation(self, played):
        _, early, *_ = played
        lines = early["image/requirements.txt"].decode().split()
        assert {"numpy", "pandas", "pydantic", "scipy"} <= {line.partition("==")[0] for line in lines}
        assert not [line for line in lines if line.startswith(("starlette", "duckdb", "tokumei"))]
        assert early["image/Dockerfile"].startswith(b"FROM python:")


class TestCommand:
    def test_it_writes_a_bundle_that_only_the_host_reads(self, played, tmp_path):
        cup, *_ = played
        path = tmp_path / "bundle.zip"
        command = ("tournament", "export", cup.tournament.folder, "-o", path, "--codabench", "--docker-image", IMAGE)
        done = invoke(*command, "--public-share", 1)
        assert done.exit_code == 0, done.output
        assert "keep it secret" in done.output
        assert path.stat().st_mode & 0o777 == 0o600
        bundle = unzipped(path.read_bytes())
        assert "counts all rows and membership" in bundle["pages/submitting.md"].decode()
        done = invoke(*command)
        assert (done.exit_code, "exists already" in done.stderr) == (2, True)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--codabench"], "--codabench needs --docker-image"),
            (["--docker-image", IMAGE], "--docker-image is for --codabench"),
            (["--codabench", "--all", "--docker-image", IMAGE], "either --all or --codabench"),
            (["--codabench", "--docker-image", "Bad Name"], "must be the name of an image"),
        ],
    )
    def test_wrong_options(self, played, tmp_path, options, message):
        cup, *_ = played
        done = invoke("tournament", "export", cup.tournament.folder, "-o", tmp_path / "a.zip", *options)
        assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
        assert message in done.stderr
        assert not (tmp_path / "a.zip").exists()

    def test_no_bundle_is_published(self, played):
        cup, *_ = played
        with pytest.raises(ValueError, match="everybody sees"):
            export_codabench(cup.tournament, cup.tournament.public / "a.zip", IMAGE)


class TestMakeSubmission:
    def test_it_runs_by_itself(self, played, tmp_path):
        cup, early, *_ = played
        kit = unzipped(early["starting_kit.zip"])
        (tmp_path / "make_submission.py").write_bytes(kit["make_submission.py"])
        original = cup.tournament.team_folder("kyoto") / "kyoto_original.csv"
        (tmp_path / "kyoto_anonymized.csv").write_text("age\n")
        command = [sys.executable, "-I", "make_submission.py", original, "kyoto_anonymized.csv"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        inside = unzipped((tmp_path / "submission.zip").read_bytes())
        assert set(inside) == {"kyoto.key", "kyoto_anonymized.csv"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)

    def test_originals_have_their_name(self, tmp_path):
        with pytest.raises(ValueError, match=r"TEAM_original\.csv"):
            make_submission.write_submission(tmp_path / "mine.csv", [], tmp_path / "a.zip")


@pytest.mark.parametrize("name", ["a", "name/tournament:1", "registry.example.org/name/x:1.0-rc1"])
def test_names_of_images(name):
    assert check_image(name) == name


@pytest.mark.parametrize("name", ["", "A", "a b", "a;b", "a:", "/a", "a//b", "a\nb", "$(x)"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="must be the name of an image"):
        check_image(name)


@pytest.mark.parametrize(
    "content",
    [
        {"a": 'x: "y" # z', "b": None, "c": True, "d": 1.5, "e": [], "f": {}, "g": "2030-01-01 12:00:00"},
        {
            "京都": ["a", {"b": [1, {"c": [[1, 2], []]}]}],
            "n": "no",
            "on": {"yes": 1, "null": 2},
            "line": "a\nb\t\\",
            "emoji": "🎌",
        },
    ],
)
def test_json_text_is_yaml(content):
    assert yaml.safe_load(json_text(content)) == content


def test_a_section_ends_before_the_next():
    assert section("# A\n## B\nx\n### C\ny\n## D\nz\n", "B") == "## B\nx\n### C\ny\n"
    with pytest.raises(ValueError, match="no section 'E'"):
        section("## B\n", "E")
