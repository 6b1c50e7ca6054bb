"""Export, backup and preview: everything in one archive without formulas, and a copy that restores while in use."""

import csv
import io
import sqlite3
import stat
import tarfile
import threading
import zipfile
from contextlib import closing

import pytest
from PIL import Image
from run_tools import invoke, wait_until
from tournament_tools import DAY, HOUR, START, opened, score

from scenarios.tables.dataset import load_table
from scenarios.tournament.host.archives import backup, export, restore, verify
from scenarios.tournament.host.boards import neutralized
from scenarios.tournament.host.decisions import disqualify
from scenarios.tournament.host.presenting import present, presentations, presented_file
from scenarios.tournament.rules.checking import check, preview
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.problems import InvalidFileError
from scenarios.tournament.rules.standings import standings
from scenarios.tournament.rules.submitting import submit

OWN = "job,age\n" + "".join(f"{job},{age}\n" for age in range(20, 50) for job in ("=1+1", "-5", "@x", "nurse"))
ROLES = """
quasi_identifiers = ["job", "age"]
[columns.job]
type = "category"
categories = ["=1+1", "-5", "@x", "nurse"]
"""


@pytest.fixture
def formulas(tmp_path):
    """A tournament on records whose categories look like formulas."""
    (tmp_path / "own.csv").write_text(OWN)
    (tmp_path / "roles.toml").write_text(ROLES)
    dataset = load_table(tmp_path / "own.csv", tmp_path / "roles.toml")
    cup = opened(tmp_path / "cup", dataset=dataset, originals=20, candidates=40, titles={"kyoto": "=HYPERLINK()"})
    cup.hand_in("kyoto", cup.frame("kyoto"))
    cup.publish()
    cup.attack("osaka", "kyoto", [0], [0])
    return cup


class TestExport:
    def test_everything_is_in_it_and_no_cell_is_a_formula(self, formulas, tmp_path):
        path = tmp_path / "all.zip"
        disqualify(formulas.tournament, "nara", "+cheated", START + DAY + HOUR)
        assert export(formulas.tournament, path, everything=True) > 10
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with zipfile.ZipFile(path) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        assert {"log.jsonl", "log.csv", "teams.csv", "submissions.csv", "host/truth.csv"} <= set(contents)
        assert "submissions/kyoto/000003_table.csv" in contents
        assert "submissions/osaka/000005_attack_kyoto.csv" in contents
        assert not any("secret" in name for name in contents)
        cells = [
            cell
            for name, data in contents.items()
            if name.endswith(".csv")
            for row in csv.reader(io.StringIO(data.decode()))
            for cell in row
        ]
        assert {"'=1+1", "-5", "'@x", "'=HYPERLINK()", "'+cheated"} <= set(cells)
        assert not [cell for cell in cells if cell != neutralized(cell)]

    def test_the_public_part_names_no_secret(self, formulas, tmp_path):
        path = tmp_path / "public.zip"
        assert invoke("tournament", "export", formulas.tournament.folder, "-o", path).exit_code == 0
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        assert "public/kyoto_anonymized.csv" in names
        assert not [name for name in names if name.startswith(("host", "teams", "log", "submissions"))]

    def test_nothing_is_overwritten_or_published(self, formulas, tmp_path):
        path = tmp_path / "all.zip"
        path.write_text("precious")
        with pytest.raises(ValueError, match="exists already"):
            export(formulas.tournament, path)
        assert path.read_text() == "precious"
        with pytest.raises(ValueError, match="everybody sees"):
            export(formulas.tournament, formulas.tournament.public / "all.zip", everything=True)
        with pytest.raises(ValueError, match="no folder"):
            export(formulas.tournament, tmp_path / "nowhere" / "all.zip")
        done = invoke("tournament", "export", formulas.tournament.folder, "-o", path, "--all")
        assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)

    @pytest.mark.parametrize("cell", ["=1", "+x", "-x", "@x", "\tx", "＝1", "-1+2"])
    def test_formulas_get_an_apostrophe(self, cell):
        assert neutralized(cell) == f"'{cell}"

    @pytest.mark.parametrize(
        ("cell", "separator", "safe"),
        [
            ("x;=1+1", ",", "x;'=1+1"),
            ("x,=1+1", ",", "x,=1+1"),
            ("x,=1+1", ";", "x,'=1+1"),
            ("x\n=1+1;-5;@y", ",", "x\n'=1+1;-5;'@y"),
            ("x\r\n-y", ",", "x\r'\n'-y"),
        ],
    )
    def test_a_spreadsheet_with_another_separator_finds_no_formula(self, cell, separator, safe):
        assert neutralized(cell, separator) == safe

    @pytest.mark.parametrize("cell", ["-5", "+1.5", "-1e-3", "x", "", 5, -0.5, None, "[20,29]", "{a|b}"])
    def test_other_cells_stay(self, cell):
        assert neutralized(cell) == cell


def listing(folder):
    return {
        str(path.relative_to(folder)): (stat.S_IMODE(path.stat().st_mode), path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
        if not path.name.endswith((".lock", ".checkpoint", ".db"))
    }


class TestBackup:
    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_a_backup_restores_the_folder_with_its_permissions(self, cup, tmp_path):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        cup.attack("nara", "kyoto", range(30), range(30))
        before = standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, 1))
        path, copy = tmp_path / "cup.tar", tmp_path / "copy"
        done = invoke("tournament", "backup", cup.tournament.folder, "-o", path)
        assert done.exit_code == 0, done.output
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        done = invoke("tournament", "restore", path, copy)
        assert (done.exit_code, "3 accepted files are unchanged" in done.output) == (0, True)
        assert listing(copy) == listing(cup.tournament.folder)
        moments = {
            place: [path.stat().st_mtime for path in sorted(place.rglob("*.csv"))]
            for place in (copy, cup.tournament.folder)
        }
        assert moments[copy] == pytest.approx(moments[cup.tournament.folder], abs=1.0)
        counts = []
        results = score(Tournament(copy), 1.0, 1, lambda done, total: counts.append(total))
        assert (standings(cup.tournament.settings.teams, results), counts) == (before, [])

    def test_databases_are_copied_in_whatever_mode_they_are(self, cup, tmp_path):
        path = cup.tournament.host / "results.db"
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE kept (number)")
            database.execute("INSERT INTO kept VALUES (5)")
            database.commit()
            backup(cup.tournament, tmp_path / "cup.tar")
        restore(tmp_path / "cup.tar", tmp_path / "again")
        with closing(sqlite3.connect(tmp_path / "again" / "host" / "results.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert database.execute("SELECT * FROM kept").fetchall() == [(5,)]

    @pytest.mark.thorough
    def test_a_table_that_was_published_meanwhile_is_published_as_the_log_says(self, cup, tmp_path):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        path = cup.tournament.public / "kyoto_anonymized.csv"
        data = path.read_bytes()
        path.write_bytes(data[:-1])
        backup(cup.tournament, tmp_path / "cup.tar")
        restore(tmp_path / "cup.tar", tmp_path / "again")
        assert (tmp_path / "again" / "public" / path.name).read_bytes() == data

    def test_what_a_killed_backup_left_is_in_no_backup(self, cup, tmp_path):
        left = cup.tournament.host / ".backupx.part"
        left.mkdir()
        (left / "copy").write_text("accounts")
        backup(cup.tournament, tmp_path / "cup.tar")
        with tarfile.open(tmp_path / "cup.tar") as archive:
            assert not [name for name in archive.getnames() if "copy" in name]

    def test_a_backup_holds_presentations(self, cup, tmp_path):
        picture = io.BytesIO()
        Image.new("RGB", (4, 4), "red").save(picture, "PNG")
        present(cup.tournament, "kyoto", "# First", None, START + HOUR)
        stored = present(cup.tournament, "kyoto", "# Ours", picture.getvalue(), START + 2 * HOUR)
        path, copy = tmp_path / "cup.tar", tmp_path / "copy"
        backup(cup.tournament, path)
        restore(path, copy)
        restored = Tournament(copy)
        assert presentations(restored.log.entries()) == {"kyoto": stored}
        assert presented_file(restored, stored.text) == b"# Ours"
        assert presented_file(restored, stored.picture) == presented_file(cup.tournament, stored.picture)
        assert stat.S_IMODE((copy / "host" / "presentations").stat().st_mode) == 0o700
        # Without a text that the log names, a backup is damaged.
        (cup.tournament.host / "presentations" / stored.text).unlink()
        backup(cup.tournament, tmp_path / "damaged.tar")
        with pytest.raises(ValueError, match=r"damaged.tar: host/presentations/"):
            restore(tmp_path / "damaged.tar", tmp_path / "nothing")
        with pytest.raises(ValueError, match=r"absent.tar: there is no such file"):
            restore(tmp_path / "absent.tar", tmp_path / "nothing")
        assert not (tmp_path / "nothing").exists()

    @pytest.mark.thorough
    def test_files_may_arrive_meanwhile(self, cup, tmp_path):
        frame, stop, accepted = cup.frame("kyoto"), threading.Event(), []

        def hand_in():
            own, number = Tournament(cup.tournament.folder), 0
            while not stop.is_set() and number < 400:
                number += 1
                path = cup.file("osaka", frame.iloc[: 1 + number % 30], f"{number}.csv")
                try:
                    accepted.append(submit(own, "kyoto", path, START + HOUR).entry.number)
                finally:
                    path.unlink()

        hand = threading.Thread(target=hand_in)
        hand.start()
        try:
            for number in range(3):
                wait_until(lambda number=number: len(accepted) > 2 * number)
                known = len(accepted)
                count = backup(cup.tournament, tmp_path / f"{number}.tar")
                restore(tmp_path / f"{number}.tar", tmp_path / f"copy-{number}")
                entries = Tournament(tmp_path / f"copy-{number}").log.entries()
                numbers = {entry.number for entry in entries if entry.kind == "submitted"}
                assert set(accepted[:known]) <= numbers
                assert count == max(numbers)
        finally:
            stop.set()
            hand.join()
        verify(cup.tournament)

    @pytest.mark.thorough_beyond(1)
    @pytest.mark.parametrize("damage", ["cut", "text", "link", "outside", "changed", "gone"])
    def test_what_is_no_backup_restores_nothing(self, cup, tmp_path, damage):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        path, copy = tmp_path / "cup.tar", tmp_path / "copy"
        backup(cup.tournament, path)
        if damage == "cut":
            path.write_bytes(path.read_bytes()[:30_000])
        elif damage == "text":
            path.write_text("hello")
        elif damage == "gone":
            path.unlink()
        elif damage == "changed":
            path.write_bytes(path.read_bytes().replace(b'"team": "kyoto"', b'"team": "osaka"'))
        else:
            with tarfile.open(path, "a") as archive:
                member = tarfile.TarInfo("../outside" if damage == "outside" else "link")
                member.type = tarfile.REGTYPE if damage == "outside" else tarfile.SYMTYPE
                member.linkname = "/etc/passwd"
                archive.addfile(member, io.BytesIO())
        done = invoke("tournament", "restore", path, copy)
        assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output
        assert str(path) in done.stderr
        assert ".part" not in done.stderr
        if damage == "changed":
            assert f"{path}: host/log.jsonl, line 2: was changed" in done.stderr
        assert not copy.exists()
        assert not (tmp_path / "outside").exists()
        assert not [entry for entry in tmp_path.iterdir() if entry.name.endswith(".part")]

    def test_nothing_is_overwritten(self, cup, tmp_path):
        path = tmp_path / "cup.tar"
        backup(cup.tournament, path)
        with pytest.raises(ValueError, match="exists already"):
            backup(cup.tournament, path)
        with pytest.raises(ValueError, match="exists already"):
            restore(path, cup.tournament.folder)
        with pytest.raises(ValueError, match="lies in the tournament's folder"):
            backup(cup.tournament, cup.tournament.host / "cup.tar")


class TestPreview:
    @pytest.mark.thorough
    def test_it_is_the_check_of_the_teams_folder_and_records_nothing(self, cup, request):
        path = cup.file("kyoto", cup.frame("kyoto").iloc[:20])
        before = listing(cup.tournament.folder)
        report = preview(cup.tournament, "kyoto", path.name, path.read_bytes())
        assert listing(cup.tournament.folder) == before
        expected = check(path, cup.tournament.team_folder("kyoto") / "kyoto_original.csv")
        assert (report.utility, report.outcomes, report.defense) == (
            expected.utility,
            expected.outcomes,
            expected.defense,
        )
        request.getfixturevalue("one_baseline")
        shown = invoke("tournament", "preview", cup.tournament.folder, "kyoto", path)
        assert (shown.exit_code, "baseline:" in shown.output) == (0, True)

    @pytest.mark.thorough
    def test_errors_are_listed(self, cup):
        wrong = cup.frame("kyoto").assign(age="20-29", job="x")
        with pytest.raises(InvalidFileError) as error:
            preview(cup.tournament, "kyoto", "a.csv", wrong.to_csv(index=False).encode())
        assert error.value.total == 2
        with pytest.raises(ValueError, match="no team"):
            preview(cup.tournament, "nobody", "a.csv", b"")
