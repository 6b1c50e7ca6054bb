"""Mistakes in methods of one's own: `tokumei check` says once what would be right, and where."""

import re
import sys
from functools import partial
from pathlib import Path

import pytest
from run_tools import invoke

from attacks import Decisions, LossThreshold
from defenses import Release
from scenarios import Game
from scenarios.checks.conformance.findings import Check, Prerequisite, findings, outcomes, require
from scenarios.running.methods.declarations import check_declarations, known_goals, known_kinds

CODE = r"""
import warnings

import numpy as np

from attacks import Attack, Decisions, RankedAnswers
from defenses import Guarantee, Identity, MicrodataDefense, MicrodataRelease, released_frame, rowwise_release


class NoRun(Attack):
    pass


class NoApply(MicrodataDefense):
    pass


class Copies(MicrodataDefense):
    def apply(self, records, rng):
        return rowwise_release(released_frame(records), channel=None)


class WrongCheck(Copies):
    def check(self, records):
        return records.frme  # here: WrongCheck


class WrongKind(Copies):  # here: WrongKind
    kind = "micro-data"


class WrongGoal(Attack):  # here: WrongGoal
    goal = "re-identification"

    def run(self, release, knowledge, rng):
        return RankedAnswers.from_scores(np.zeros((len(release.frame), len(knowledge.candidates))), rng)


class NoGoal(Attack):
    def run(self, release, knowledge, rng):  # here: NoGoal
        return Decisions(np.zeros(len(knowledge.candidates)))


class Unchecked(Copies):
    def __init__(self, *, smoothing=1.0):  # here: Unchecked
        self.smoothing = smoothing


class NoText(Copies):
    def __init__(self, *, count=1):  # here: NoText
        self.count = count
        if not np.isfinite(count):
            raise ValueError("count must be finite")


class Frame(MicrodataDefense):
    def apply(self, records, rng):  # here: Frame
        return released_frame(records)


class Nothing(MicrodataDefense):
    def apply(self, records, rng):  # here: Nothing
        pass


class Modifying(Copies):
    def apply(self, records, rng):  # here: Modifying
        records.frame["age"] = 50
        return super().apply(records, rng)


class Unseeded(MicrodataDefense):
    def apply(self, records, rng):  # here: Unseeded
        ages = np.random.default_rng().integers(18, 90, len(records))
        return rowwise_release(released_frame(records, {"age": ages}), channel=None)


class NoGenerator(MicrodataDefense):
    def apply(self, records):  # here: NoGenerator
        return rowwise_release(released_frame(records), channel=None)


class NoDefault(Copies):
    def __init__(self, *, base):  # here: NoDefault
        self.base = base


class AnyParameters(Copies):
    def __init__(self, **parameters):  # here: AnyParameters
        self.parameters = parameters


class OtherName(Copies):
    def __init__(self, *, base="a"):  # here: OtherName
        self._base = base


class Promise(Copies):
    def guarantee(self, records):  # here: Promise
        return {"k": 5}


class LongOrigin(MicrodataDefense):
    def apply(self, records, rng):
        return MicrodataRelease(released_frame(records), np.arange(len(records) + 3))  # here: LongOrigin


class Unstorable(Copies):
    def __init__(self, *, scale=np.log):  # here: Unstorable
        self.scale = scale


class Every2nd(MicrodataDefense):
    def apply(self, records, rng):  # here: Every2nd
        return rowwise_release(released_frame(records)[::2], channel=None)


class ManyNaN(Attack):
    def run(self, release, knowledge, rng):
        scores = np.log(np.full((len(release.frame), len(knowledge.candidates)), -1.0))
        return RankedAnswers.from_scores(scores, rng)  # here: ManyNaN


class PerRow(Attack):
    goal = "membership"

    def run(self, release, knowledge, rng):  # here: PerRow
        return Decisions(np.zeros(len(release.frame)))


class Asserting(Copies):
    def apply(self, records, rng):
        assert len(records) < 0, "two\nlines"  # here: Asserting
        return super().apply(records, rng)


class FewRefused(Copies):
    def apply(self, records, rng):
        if len(records) < 50:
            raise RuntimeError(f"{len(records)} are too few")  # here: FewRefused
        return super().apply(records, rng)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_methods", raising=False)
    (tmp_path / "own_methods.py").write_text(CODE)
    return tmp_path


def place(name):
    """File and line of the comment that marks a class's mistake."""
    (line,) = (number for number, text in enumerate(CODE.splitlines(), 1) if text.endswith(f"# here: {name}"))
    return f"(own_methods.py, line {line})"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("WrongCheck", "has no attribute 'frme'"),
        ("WrongKind", "there is no kind 'micro-data'; did you mean 'microdata'?"),
        ("WrongGoal", "there is no goal 're-identification'; did you mean 'reidentification'?"),
        ("NoGoal", "got Decisions, for which state goal = 'distinguishing' or 'membership'"),
        (
            "Unchecked",
            "smoothing=nan is accepted; the constructor must raise ValueError naming smoothing, as check_real(",
        ),
        ("NoText", "count='1' raises TypeError; the constructor must raise ValueError naming count, as check_integer("),
        ("Frame", "apply must return a MicrodataRelease, e.g. rowwise_release(frame, channel=None); got DataFrame"),
        ("Nothing", "apply must return a MicrodataRelease, e.g. rowwise_release(frame, channel=None); got None"),
        ("Modifying", "apply changes column 'age' of the records; copy it: released_frame(records) does"),
        ("Unseeded", "two runs with one seed differ in column 'age'; draw from rng, not from np.random"),
        ("NoGenerator", "the signature must be apply(self, records, rng)"),
        ("NoDefault", "give parameter base a default"),
        ("AnyParameters", "the constructor must name each parameter, and not take **parameters"),
        ("OtherName", "store parameter base as self.base"),
        ("Promise", "guarantee must return a Guarantee, e.g. Guarantee(k=5); got dict"),
        ("LongOrigin", "origin must hold 60 positions, one a row, got shape (63,)"),
        ("Unstorable", "parameter scale holds a ufunc, which cannot be stored with results"),
        ("Every2nd", "row 1 stems from record 2, but its origin is 1"),
        ("Asserting", "AssertionError: two lines"),
        ("ManyNaN", "scores must not be NaN"),
        ("PerRow", "the release has 15 rows and 30 candidates"),
    ],
)
def test_one_mistake_fails_one_check_that_says_what_is_right(folder, name, words):
    result = invoke("check", f"own_methods:{name}")
    assert result.exit_code == 1
    (failed,) = (line for line in result.output.splitlines() if line.startswith("FAILED"))
    assert words in failed
    assert place(name) in failed
    # No cells of records: a dump of a table has many numbers.
    assert len(re.findall(r"\d+", result.output.replace(name, ""))) < 12
    assert result.output.splitlines()[-1].startswith(f"own_methods:{name}: 1 failed")


@pytest.mark.thorough
def test_a_warning_is_shown_once_with_its_line(folder):
    (warning,) = (
        line for line in invoke("check", "own_methods:ManyNaN").output.splitlines() if "RuntimeWarning" in line
    )
    assert "(own_methods.py, line" in warning


@pytest.mark.thorough
def test_checks_that_fail_for_one_reason_are_one_finding(folder):
    result = invoke("check", "own_methods:FewRefused")
    (failed,) = (line for line in result.output.splitlines() if line.startswith("FAILED"))
    assert "checks failed for one reason: RuntimeError: 40 are too few" in failed
    assert place("FewRefused") in failed
    assert "        - releases no record, or gives a reason\n" in result.output


def test_after_a_failed_prerequisite_nothing_is_run():
    ran, passed = [], []

    def second():
        ran.append("second")

    failing = partial(require, False, "3 of 4, line 9)")
    given = [Check("zero", lambda: None), Prerequisite("first", failing), Check("second", second)]
    found = findings(outcomes(given), passed.append)
    assert (passed, ran, found.failures) == (["zero"], [], {"3 of 4, line 9)": ["first"]})
    assert found.left_out == ["second"]


def test_reasons_of_different_lines_are_different_findings():
    first, second = "3 rows (own.py, line 17)", "3 rows (own.py, line 19)"
    reasons = (first, "5 rows (own.py, line 17)", second, "3 rows", "12 rows")
    found = findings(outcomes(Check(reason, partial(require, False, reason)) for reason in reasons), print)
    assert found.failures == {first: list(reasons[:2]), second: [second], "3 rows": list(reasons[3:])}
    assert found.failed == 5


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["check", "own_methods:NoRun"],
            "NoRun is abstract: it lacks run(release, knowledge, rng) (own_methods.py, line ",
        ),
        (["check", "own_methods:NoApply"], "NoApply is abstract: it lacks apply(records, rng) (own_methods.py, line "),
        (["run", "-a", "own_methods:NoRun"], "NoRun is abstract: it lacks run(release, knowledge, rng)"),
        (["run", "-d", "own_methods:NoApply"], "NoApply is abstract: it lacks apply(records, rng)"),
        (
            ["run", "-d", "own_methods:NoRun"],
            "'own_methods:NoRun' is an attack, not a defense (own_methods.py, line ",
        ),
        (
            ["check", "NearestNeigbour"],
            "no defense, attack or utility measure 'NearestNeigbour'; did you mean 'NearestNeighbour'?",
        ),
        (["check", "nearestneighbours"], "did you mean 'NearestNeighbour'?"),
        (["check", "mondrain"], "did you mean 'Mondrian'?"),
        (["check", "own_methods.py:NoRun"], "write own_methods:NoRun, without .py"),
        (["check", "./code/own_methods.py:NoRun"], "write own_methods:NoRun, in the folder code"),
    ],
)
def test_a_method_that_cannot_be_found_or_made_is_refused(folder, arguments, words):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_info_describes_a_class_of_ones_own(folder):
    result = invoke("info", "own_methods:Unchecked")
    assert result.exit_code == 0
    assert result.output.startswith("own_methods:Unchecked(*, smoothing=1.0)")
    assert "It has no docstring." in result.output
    assert "from own_methods import Unchecked" in result.output
    assert str(Path(folder) / "own_methods.py") in result.output
    assert invoke("info", "own_methods:Missing").exit_code == 2


def test_kinds_and_goals_of_imported_games_and_releases_are_known():
    class Colours(Release):
        kind = "colours"

        def view(self, rng):
            return self

    class ColourGame(Game):
        takes = {"colour": Decisions}  # noqa: RUF012 (as a user may write it)

    class ColourAttack(LossThreshold):
        kind, goal = "colours", "colour"

    check_declarations(ColourAttack)
    assert (Colours.kind in known_kinds(), known_goals()["colour"]) == (True, {Decisions})
    assert ColourGame.takes.keys() <= known_goals().keys()
    for name in ("Kind", "Goal"):
        wrong = type(f"Wrong{name}", (ColourAttack,), {name.lower(): None})
        with pytest.raises(ValueError, match=f"Wrong{name}: there is no {name.lower()} None; known are"):
            check_declarations(wrong)
