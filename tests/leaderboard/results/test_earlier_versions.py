"""Results of earlier versions of a method or a game are never pooled with the newest: they are left out and named."""

import csv
import hashlib
import io
import json
import shutil
from dataclasses import replace

import pytest
from run_tools import invoke

import leaderboard as lb
from defenses import Guarantee
from leaderboard import Result, Store, stored_board
from leaderboard.results.result import canonical
from metrics import Score
from scenarios import read_board, read_plan
from scenarios.running.units import Catalogue

DEFENSES = ("Alpha", "Beta", "Gamma")
PLAYS = range(5)
LEFT = "10 of 15 results of mine:Mine are of an earlier version and left out (with Beta, Gamma)"


def stored(
    store, defense, attack, *, rate=0.5, version=1, defense_version=1, data="people", plays=PLAYS, given=None, code=None
):
    """Store plays of a pair, with the documents that say what they depend on: ``code`` is the attack's modules."""
    source = canonical(code or {"mine": "old"})
    codes = {hashlib.sha256(source.encode()).hexdigest(): source}
    parts = {"data": data, "defense": {"name": defense, "parameters": {}, "source": str(defense_version)}}
    if attack:
        # The constructor's defaults are in the document, and not in the parameters of the result.
        parameters = {"floor": version, **(given or {})}
        parts["attack"] = {"name": attack, "parameters": parameters, "source": next(iter(codes))}
    text = canonical(parts)
    name = hashlib.sha256(text.encode()).hexdigest()
    common = {"parts": name, "scenario": "bank", "defense": defense}
    results = []
    for play in plays:
        score = Score("reidentification", rate + play / 1000, 0.005, 100)
        trial = {"attack": attack, "attack_parameters": given or {}, "scores": {score.goal: score}}
        kind = trial if attack else {"values": {"marginals": rate}}
        results.append(Result(key=hashlib.sha256(f"{name} {play}".encode()).hexdigest(), play=play, **common, **kind))
    store.add(results, {name: text, **codes})
    return results


def fill(store):
    """A baseline and an attack on three defenses."""
    for defense in DEFENSES:
        stored(store, defense, None)
        stored(store, defense, "Base", rate=0.4)
        stored(store, defense, "mine:Mine", rate=0.6)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A database that is filled once, and copied for each test."""
    path = tmp_path_factory.mktemp("filled") / "a.db"
    with Store(path) as opened:
        fill(opened)
    return path


@pytest.fixture
def store(filled, tmp_path):
    with Store(shutil.copy(filled, tmp_path)) as opened:
        yield opened


@pytest.fixture
def changed(store, tmp_path):
    """Database in which a changed attack was played on one defense only."""
    stored(store, "Alpha", "mine:Mine", rate=0.1, version=2)
    return tmp_path / "a.db"


def play_game(
    store, *, plays=PLAYS, seed=1, size=100, version=1, decoys="hard", code=None, question=None, scenario="bank"
):
    """Store plays of one defense and one attack in a variant of a game, with the documents of a real run."""
    source = canonical(code or {"games": "old"})
    documents = {hashlib.sha256(source.encode()).hexdigest(): source}
    variant = {} if question else {"decoys": decoys}
    asked = {"question": question} if question else variant
    game = {"name": "Candidates", "parameters": {"originals": size}, "source": next(iter(documents))}
    method = {"parameters": {}, "source": ""}
    base = {"data": "people", "seed": seed, "scorer": {"version": version}, "defense": {"name": "Alpha", **method}}
    trial = {"game": {**game, "parameters": {**game["parameters"], **asked}}, "attack": {"name": "Base", **method}}
    results = []
    for parts, own in (({"game": game}, {}), (trial, {"attack": "Base", "game": variant})):
        text = canonical({**base, **parts})
        name = hashlib.sha256(f"{scenario} {text}".encode()).hexdigest()
        documents[name] = text
        common = {"parts": name, "scenario": scenario, "defense": "Alpha", **own}
        scores = {"scores": {"reidentification": Score("reidentification", 0.5, 1 / size, 100)}} if own else {}
        results += [Result(key=f"{name} {play}"[-64:], play=play, **common, **scores) for play in plays]
    store.add(results, documents)
    return results


def board_of(store):
    return stored_board(store, store.results())


def test_results_of_one_version_are_all_kept(store):
    board = board_of(store)
    assert board.results == store.results()
    assert board.earlier == []


def test_a_changed_attack_is_not_pooled_with_its_former_self(store, changed):
    board = board_of(store)
    assert list(map(str, board.earlier)) == [f"bank: {LEFT}"]
    (row,) = lb.compare_with_baseline(board.results, "Base")
    assert (row.defenses, row.trials) == (1, 5)
    assert row.difference == pytest.approx(-0.3)
    assert {one.defense for one in board.results if one.attack == "mine:Mine"} == {"Alpha"}
    assert len([one for one in board.results if one.attack == "Base"]) == 15


def test_plays_of_two_versions_are_not_pooled(store):
    for defense in DEFENSES:
        stored(store, defense, "mine:Mine", rate=0.1, version=2, plays=range(2))
    board = board_of(store)
    pairs = [pair for pair in lb.matrix(board.results) if pair.attack == "mine:Mine"]
    assert [pair.plays for pair in pairs] == [2, 2, 2]
    assert all(pair.success("reidentification").rate.value < 0.2 for pair in pairs)
    (one,) = board.earlier
    assert (one.left_out, one.results, one.met) == (9, 15, "Alpha, Beta, Gamma")


def test_what_met_an_earlier_version_of_a_defense_does_not_count(store):
    stored(store, "Alpha", None, rate=0.9, defense_version=2)
    stored(store, "Alpha", "Base", rate=0.2, defense_version=2)
    board = board_of(store)
    (row,) = [row for row in lb.rank(board.results) if row.defense == "Alpha"]
    assert (row.utility, row.worst_attack) == (0.9, "Base")
    assert not row.complete
    (one,) = board.earlier
    assert (one.subject, one.left_out, one.results, one.met) == ("Alpha", 5, 15, "mine:Mine")


def test_a_changed_module_makes_all_settings_of_a_method_older(store):
    for power in (1, 2):
        stored(store, "Alpha", "mine:Mine", given={"power": power}, code={"mine": "old", "shared": "same"})
    assert board_of(store).earlier == []
    stored(store, "Alpha", "mine:Mine", given={"power": 1}, code={"mine": "new", "shared": "same"})
    board = board_of(store)
    left = {(one.subject, one.left_out, one.results) for one in board.earlier}
    # The setting without parameters was played before on all three defenses.
    assert left == {("mine:Mine", 15, 15), ("mine:Mine power=2", 5, 5)}
    assert {one.attack_parameters["power"] for one in board.results if one.attack == "mine:Mine"} == {1}
    assert len([one for one in board.results if one.attack == "Base"]) == 15


def test_settings_of_different_parts_are_of_one_version(store):
    """A composed method depends on other modules in each setting; only a module that changed makes it older."""
    for step in ("first", "second"):
        stored(store, "Alpha", "mine:Mine", given={"step": step}, code={"mine": "old", step: "same"})
    assert board_of(store).earlier == []


def test_results_on_other_data_do_not_count(store):
    stored(store, "Alpha", None, data="more people")
    board = board_of(store)
    assert len(board.results) == 5
    (one,) = board.earlier
    assert (one.subject, one.left_out, one.results) == ("the data set", 40, 45)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("changed", "subject"),
    [
        ({"seed": 2}, "the seed"),
        ({"size": 20}, "the game"),
        ({"code": {"games": "new"}}, "the game"),
        ({"version": 2}, "the scoring"),
    ],
)
def test_plays_of_another_seed_game_or_scoring_are_not_pooled(changed, subject, tmp_path):
    """A release and a trial of each of two plays are the newest; of the first run remain those of three plays."""
    with Store(tmp_path / "a.db") as store:
        play_game(store)
        newest = play_game(store, plays=range(2), **changed)
        board = board_of(store)
    assert {one.key for one in board.results} == {one.key for one in newest}
    (one,) = board.earlier
    assert (one.subject, one.left_out, one.results) == (subject, 6, 10)
    rows = json.loads(invoke("board", "--db", tmp_path / "a.db", "--format", "json").stdout)
    assert [row["plays"] for row in rows] == [2]
    with pytest.warns(UserWarning, match="6 of 10 results"):
        assert [pair.plays for pair in read_board(tmp_path / "a.db").pairs] == [2]


def test_an_earlier_seed_is_said_to_be_one(tmp_path):
    with Store(tmp_path / "a.db") as store:
        play_game(store)
        play_game(store, plays=range(2), seed=2)
    done = invoke("board", "--db", tmp_path / "a.db", "--format", "csv")
    assert "bank: 6 of 10 results are of an earlier seed and left out (with Alpha)" in done.stderr


def test_variants_of_a_game_scenarios_and_more_plays_stay_side_by_side(tmp_path):
    """Variants may depend on other modules, and be played at other times; their common settings are the same."""
    with Store(tmp_path / "a.db") as store:
        play_game(store, plays=range(2), code={"games": "old", "random": "same"}, decoys="random")
        play_game(store, code={"games": "old", "hard": "same"})
        play_game(store, scenario="city", seed=2, size=20, code={"games": "other"})
        board = board_of(store)
        assert board.earlier == []
        assert {(pair.scenario, pair.variant, pair.plays) for pair in lb.matrix(board.results)} == {
            ("bank", "decoys=random", 2),
            ("bank", "decoys=hard", 5),
            ("city", "decoys=hard", 5),
        }
        # The game's size is common to all variants: their releases are the same.
        play_game(store, size=20)
        (one,) = board_of(store).earlier
        assert (one.scenario, one.subject, one.left_out) == ("bank", "the game", 2)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("changed", [{"use": "Row", "candidates": 2}, {"use": "Other"}])
def test_answers_to_another_question_are_not_pooled(changed, tmp_path):
    """Questions about the same people stand side by side; one that changed leaves their releases as they are."""
    with Store(tmp_path / "a.db") as store:
        play_game(store, question={"use": "Row", "candidates": 1})
        assert board_of(store).earlier == []
        play_game(store, plays=range(2), question=changed)
        (one,) = board_of(store).earlier
        assert (one.left_out, one.results) == (3, 5)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["bank", "reconstruction"])
def test_results_of_a_shipped_scenario_are_of_one_version(name, tmp_path):
    """Variants of a game, and questions about the same people, as a run stores them."""
    plan = replace(read_plan(name), plays=1)
    catalogue = Catalogue(plan, (Guarantee(),) * len(plan.defenses))
    with Store(tmp_path / "a.db") as store:
        store.add([result for unit in catalogue.units for result in unit.results], catalogue.documents)
        board = board_of(store)
        assert board.earlier == []
        assert len(board.results) == len(catalogue.keys)


def test_results_that_a_run_uses_again_count_again(store, changed):
    keys = {one.key for one in stored(store, "Alpha", "mine:Mine", rate=0.6)}
    stored(store, "Alpha", "mine:Mine", rate=0.1, version=2)
    assert len(board_of(store).earlier) == 1
    store.renew("bank", keys)
    board = board_of(store)
    assert board.earlier == []
    assert {one.scores["reidentification"].rate for one in board.results if one.key in keys} == {
        0.6 + play / 1000 for play in PLAYS
    }


def test_results_are_written_again_only_if_others_came_later(store, changed, monkeypatch):
    keys = {one.key for one in store.results() if one.defense == "Beta"}
    store.renew("bank", keys)
    assert {one.key for one in store.results()[-len(keys) :]} == keys
    monkeypatch.setattr(store, "add", lambda results: pytest.fail(f"{len(results)} written") if results else None)
    store.renew("bank", keys)
    store.renew("nowhere", keys)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("view", [(), ("--matrix",), ("--baseline", "Base"), ("--summary",)])
@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json", "latex"])
def test_every_view_names_what_it_leaves_out(changed, view, form):
    done = invoke("board", "--db", changed, "--format", form, *view)
    assert done.exit_code == 0, done.output
    if form in ("table", "markdown"):
        assert "Results of earlier versions, left out" in done.stdout
        assert "Beta, Gamma" in done.stdout
    else:
        assert f"{LEFT}; `tokumei run` plays them again" in done.stderr
        assert "earlier version" not in done.stdout


def test_pages_name_what_they_leave_out(changed, tmp_path):
    for view in ((), ("--baseline", "Base")):
        page = tmp_path / "page.html"
        assert invoke("board", "--db", changed, "--html", page, *view).exit_code == 0
        assert "Results of earlier versions, left out" in page.read_text(encoding="utf-8")


def test_compare_leaves_out_earlier_versions_and_says_so(changed, filled, tmp_path):
    other = shutil.copy(filled, tmp_path / "b.db")
    done = invoke("compare", changed, other, "--all", "--format", "csv")
    assert f"{changed}: bank: {LEFT}" in done.stderr
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["attack"] == "mine:Mine"]
    assert {row["defense"] for row in rows} == {"Alpha"}


def test_python_warns_and_its_board_names_them(changed, tmp_path):
    with pytest.warns(UserWarning, match="10 of 15 results of mine:Mine are of an earlier version"):
        board = read_board(changed)
    assert set(board.against("Base")["defenses"]) == {1}
    assert LEFT in repr(board)
    assert LEFT in board._repr_html_()
    for name in ("board.html", "board.md"):
        assert "Results of earlier versions, left out" in board.save(tmp_path / name).read_text(encoding="utf-8")


def test_a_damaged_document_is_named(store):
    with store.transaction() as connection:
        connection.exec_driver_sql("UPDATE tokumei_documents SET content = '[1'")
    with pytest.raises(ValueError, match=r"the stored document .* is damaged"):
        board_of(store)


@pytest.mark.thorough
def test_a_board_shows_the_methods_that_are_named(store, tmp_path):
    db = tmp_path / "a.db"
    rows = json.loads(invoke("board", "--db", db, "-d", "Beta", "-a", "Mine", "--format", "json").stdout)
    assert [(row["defense"], row["worst_attack"], row["complete"]) for row in rows] == [("Beta", "mine:Mine", True)]
    for form in ("table", "csv", "latex"):
        text = invoke("board", "--db", db, "-d", "Beta", "-a", "Mine", "--matrix", "--format", form).stdout
        assert "Mine" in text
        assert "Base" not in text
        assert "Alpha" not in text
    done = invoke("board", "--db", db, "-d", "Beta", "-a", "Mine", "--baseline", "Base", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["attack"], row["defenses"]) == ("mine:Mine", "1")
    assert len(read_board(db, defenses=["Beta"], attacks=["Mine"]).pairs) == 1


def test_a_setting_is_named_by_its_parameters(tmp_path):
    with Store(tmp_path / "k.db") as store:
        for k in (2, 3):
            release = {"values": {"marginals": 0.5}, "parameters": {"k": k}, "defense": "Mondrian", "play": 0}
            store.add([Result(key=str(k), scenario="bank", **release)])
    for name, settings in (("Mondrian", 2), ("Mondrian  k=3", 1)):
        done = invoke("board", "--db", tmp_path / "k.db", "-d", name, "--format", "json")
        assert len(json.loads(done.stdout)) == settings


def test_a_name_alone_means_all_settings_on_boards_and_the_defaults_as_a_baseline(store, tmp_path):
    stored(store, "Alpha", "mine:Mine", given={"power": 2})
    shown = invoke("board", "--db", tmp_path / "a.db", "-a", "Mine", "--matrix", "--format", "csv").stdout
    assert {row["attack_parameters"] for row in csv.DictReader(io.StringIO(shown))} == {"{}", '{"power":2}'}
    board = read_board(tmp_path / "a.db")
    assert set(board.against("Mine")["baseline_parameters"].map(canonical)) == {"{}"}


def test_an_unknown_name_is_refused_with_those_that_are_there(store, tmp_path):
    for option, says in (("-d", "no defense 'Nobody'; there are Alpha, Beta"), ("-a", "no attack 'Nobody'; there are")):
        for view in ((), ("--matrix",), ("--baseline", "Base")):
            done = invoke("board", "--db", tmp_path / "a.db", option, "Nobody", *view)
            assert (done.exit_code, says in done.stderr) == (2, True)
    done = invoke("board", "--db", tmp_path / "a.db", "-d", "Alpha", "--history", "Alpha")
    assert (done.exit_code, "it takes no --defense" in done.stderr) == (2, True)
