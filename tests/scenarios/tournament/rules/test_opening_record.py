"""The host's files are those of the opening, or every command that depends on them says which one is not."""

import json
import re

import pytest
from run_tools import invoke
from tournament_tools import DAY, START, opened, score

from scenarios.tournament.codabench.bundle import export_codabench
from scenarios.tournament.host.archives import backup, restore, verify
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.checking import preview
from scenarios.tournament.rules.folder import Tournament, file_hashes
from scenarios.tournament.rules.log import Log
from scenarios.tournament.rules.scoring import scoring_plan

FILES = (
    "host/originals/kyoto_original.csv",
    "host/candidates/osaka_candidate.csv",
    "host/others.csv",
    "host/roles.toml",
    "host/secret.json",
)


def rotated(data):
    """A file with the same lines in another order, as a spreadsheet that sorts it writes them."""
    head, *lines = data.splitlines(keepends=True)
    return b"".join([head, *lines[1:], *lines[:1]]) if lines else data + b"\n"


def sort(path):
    path.chmod(0o600)
    path.write_bytes(rotated(path.read_bytes()))


def remove(path):
    path.unlink()


def replace(path):
    """By another file of the same kind."""
    others = [one for one in path.parent.iterdir() if one.suffix == path.suffix and one != path and one.is_file()]
    data = others[0].read_bytes() if others else b"another"
    path.unlink()
    path.write_bytes(data)


@pytest.fixture
def published(tmp_path, one_baseline):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=10, candidates=20)
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    return cup


def anew(cup):
    """The tournament as another command opens it."""
    return Tournament(cup.tournament.folder)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", [sort, remove, replace])
def test_a_file_that_was_changed_is_named(published, name, change):
    folder = published.tournament.folder
    assert "7 files of the host are as at the opening" in verify(anew(published))
    change(folder / name)
    for command in (verify, lambda one: scoring_plan(one, (1.0,))):
        with pytest.raises(ValueError, match=re.escape(str(folder / name))):
            command(anew(published))
    shown = invoke("tournament", "verify", folder)
    assert (shown.exit_code, name in shown.output) == (1, True)
    shown = invoke("tournament", "score", folder, "--jobs", 1)
    assert (shown.exit_code, name in shown.output) == (2, True)
    with pytest.raises(ValueError, match=name):
        export_codabench(anew(published), folder.parent / "bundle.zip", "image/name")


def test_a_setting_that_was_changed_stops_the_scoring(published):
    path = published.tournament.folder / "tournament.toml"
    path.write_text(re.sub(r"queries_seed = \d+", "queries_seed = 7", path.read_text()))
    shown = invoke("tournament", "score", published.tournament.folder, "--jobs", 1)
    assert (shown.exit_code, "queries_seed was changed by hand" in shown.output) == (2, True)


@pytest.mark.thorough
def test_a_file_that_is_put_back_or_written_alike_is_none_that_was_changed(published):
    path = published.tournament.original_path("kyoto")
    data = path.read_bytes()
    sort(path)
    path.write_bytes(data)
    settings = published.tournament.folder / "tournament.toml"
    settings.write_text(f"# a note\n{settings.read_text()}")
    verify(anew(published))
    scoring_plan(anew(published), (1.0,))


def test_files_that_were_added_are_named(tmp_path):
    """Without other people at the opening, nobody's records become theirs later."""
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=10, candidates=20)
    log = cup.tournament.host / "log.jsonl"
    (entry,) = cup.tournament.log.entries()
    files = {name: sha256 for name, sha256 in entry.details["files"].items() if name != "host/others.csv"}
    log.unlink()
    again = Log(log)
    with again.locked():
        again.append("opened", {**entry.details, "files": files}, START)
    with pytest.raises(ValueError, match=r"others.csv: was added after the opening"):
        verify(anew(cup))


@pytest.mark.thorough
def test_copies_of_the_teams_are_checked_where_they_are(published):
    """A folder that was handed over by moving it is no change; a sorted original in it is one."""
    folder = published.tournament.folder / "teams"
    (folder / "osaka").rename(published.tournament.folder.parent / "osaka")
    verify(anew(published))
    sort(folder / "kyoto" / "kyoto_original.csv")
    with pytest.raises(ValueError, match=r"kyoto_original.csv: is not what the team was given; copy"):
        verify(anew(published))
    scoring_plan(anew(published), (1.0,))


def test_neither_previews_nor_publication_use_changed_files(tmp_path):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=10, candidates=20)
    table = cup.file("kyoto", cup.frame("kyoto"))
    cup.hand_in("kyoto", cup.frame("kyoto"))
    sort(cup.tournament.original_path("kyoto"))
    with pytest.raises(ValueError, match=r"kyoto_original.csv: was changed since the opening"):
        preview(anew(cup), "kyoto", table.name, table.read_bytes())
    remove(cup.tournament.candidate_path("osaka"))
    with pytest.raises(ValueError, match=r"osaka_candidate.csv: is missing"):
        advance(anew(cup), START + DAY)


def without_hashes(cup):
    """The tournament as an earlier version opened it: its log has no hashes of files."""
    first, *rest = cup.tournament.log.entries()
    log = cup.tournament.log.path
    log.unlink()
    log.with_name("log.jsonl.checkpoint").unlink(missing_ok=True)
    again = Log(log)
    details = {name: value for name, value in first.details.items() if name != "files"}
    with again.locked():
        for entry in (first, *rest):
            kept = details if entry is first else {k: v for k, v in entry.details.items() if k != "moment"}
            again.append(entry.kind, kept, START)
    return Tournament(cup.tournament.folder)


@pytest.mark.thorough
def test_a_folder_of_an_earlier_version_passes_and_says_so(published):
    """What was scored with a changed file is scored anew once the file is put back."""
    old = without_hashes(published)
    assert "were not recorded at init" in verify(old)
    before = score(old, 1.0, 1)
    path, data = old.original_path("kyoto"), old.original_path("kyoto").read_bytes()
    sort(path)
    verify(Tournament(old.folder))
    changed = score(Tournament(old.folder), 1.0, 1)
    assert [one.values for one in changed] != [one.values for one in before]
    path.write_bytes(data)
    assert [one.values for one in score(Tournament(old.folder), 1.0, 1)] == [one.values for one in before]


@pytest.mark.thorough
def test_the_hashes_of_an_older_folder_can_be_adopted_once(published):
    folder = without_hashes(published).folder
    done = invoke("tournament", "init", folder, "--adopt-hashes", "--originals", 7)
    assert (done.exit_code, "give no other option" in done.output) == (2, True)
    done = invoke("tournament", "init", folder, "--adopt-hashes")
    assert (done.exit_code, "the hashes of 7 files are logged" in done.output) == (0, True)
    assert "The host logged hashes of the originals" in (folder / "public" / "NOTICES.md").read_text()
    assert "7 files of the host are as at the adoption of hashes" in verify(Tournament(folder))
    before = Tournament(folder).log.entries()
    done = invoke("tournament", "init", folder, "--adopt-hashes")
    assert (done.exit_code, "recorded already" in done.output) == (2, True)
    assert Tournament(folder).log.entries() == before
    sort(Tournament(folder).original_path("kyoto"))
    with pytest.raises(ValueError, match=r"kyoto_original.csv: was changed since the adoption of hashes; put it back"):
        verify(Tournament(folder))
    assert invoke("tournament", "score", folder, "-j", 1).exit_code == 2


def test_hashes_are_adopted_of_older_tournaments_only(published, tmp_path):
    done = invoke("tournament", "init", published.tournament.folder, "--adopt-hashes")
    assert (done.exit_code, "recorded already" in done.output) == (2, True)
    done = invoke("tournament", "init", tmp_path / "nothing", "--adopt-hashes")
    assert (done.exit_code, "is no tournament" in done.output) == (2, True)
    assert not (tmp_path / "nothing").exists()
    for option in ("--teams", "--anonymize-until", "--attack-until"):
        given = {"--teams": __file__, "--anonymize-until": "2090-01-01", "--attack-until": "2090-01-02"}
        given.pop(option)
        done = invoke("tournament", "init", tmp_path / "nothing", *(part for pair in given.items() for part in pair))
        assert (done.exit_code, f"Missing option '{option}'" in done.output) == (2, True)


@pytest.mark.thorough
def test_a_backup_keeps_the_hashes(published, tmp_path):
    backup(published.tournament, tmp_path / "cup.tar")
    assert "7 files of the host are as at the opening" in restore(tmp_path / "cup.tar", tmp_path / "again")
    sort(published.tournament.original_path("kyoto"))
    backup(published.tournament, tmp_path / "changed.tar")
    with pytest.raises(ValueError, match=r"kyoto_original.csv: was changed since the opening"):
        restore(tmp_path / "changed.tar", tmp_path / "third")
    assert not (tmp_path / "third").exists()


def test_the_log_names_every_file_on_which_scores_depend(published):
    folder = published.tournament.folder
    recorded = published.tournament.log.entries()[0].details["files"]
    assert recorded == file_hashes(folder)
    assert set(FILES) < set(recorded)
    assert "seed" not in json.dumps(recorded)
