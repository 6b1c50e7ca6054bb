"""Audits: bounds are correct, correct mechanisms pass with bounds near their claim, and broken ones fail.

Lower bounds hold with 99.9 %: a test that asserts that a correct mechanism passes raises a false alarm in at most 0.1 %
of seeds. Seeds are fixed.
"""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from attacks.statistics.distinguishing import learn_event
from defenses import RetentionReplacement
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.dp import BinaryTree, DiscreteLaplace, Exponential, Gaussian, Laplace, SparseVector, drawn_in_bulk
from defenses.dp.mechanism import draws_in_bulk, on_lattice, steps_between
from defenses.ldp import SymmetricUnaryEncoding, ThresholdedHistogramEncoding
from scenarios.checks.audits.audit import Neighbours, Subject, audit
from scenarios.checks.audits.names import mechanism_of, mechanisms
from scenarios.checks.audits.subjects import ONE_BY_ONE, subject
from scenarios.checks.audits.tables import COPIES, table
from scenarios.commands.cli import cli
from scenarios.running.methods.invented_people import example
from scenarios.running.methods.methods import exported

SMALL = {"d": 16, "m": 32, "k": 4, "letters": "ab", "length": 2, "horizon": 8, "delta": 0.01}
"""Parameters for fast and tight audits: with a delta of 10^-6 the worst event would be too rare to be observed."""


RARE_EVENTS = (
    "BinaryTree", "DiscreteGaussian", "Exponential", "Gaussian", "SequenceFragmentPuzzle", "ShuffledResponse",
    "SparseVector", "ThresholdedHistogramEncoding",
)  # fmt: skip
"""Mechanisms whose worst event is too rare for few runs."""


def rng(seed=0):
    return np.random.default_rng(seed)


def make(name, epsilon):
    cls = mechanisms()[name]
    return cls(epsilon=epsilon, **{key: value for key, value in SMALL.items() if key in cls.parameter_names()})


def test_event_refuses():
    with pytest.raises(ValueError, match="at least 4"):
        learn_event(np.zeros((3, 1)), np.zeros((9, 1)), confidence=0.9)
    with pytest.raises(ValueError, match="features"):
        learn_event(np.zeros((9, 1)), np.zeros((9, 2)), confidence=0.9)


def test_event_with_no_answers_constants_and_infinities():
    first = np.column_stack([np.full(400, np.nan), np.zeros(400), np.repeat([np.inf, 1.0], 200)])
    event = learn_event(first, first, confidence=0.9)
    assert event.bound(first, first, confidence=0.9) == 0
    second = first + np.array([0, 1, 0])
    event = learn_event(first, second, confidence=0.9)
    assert event.bound(first, second, confidence=0.9) > 3


# Honest mechanisms


def attainable(mechanism):
    """The epsilon that worst neighbours show: the claim, but where thresholding throws some of it away."""
    if isinstance(mechanism, ThresholdedHistogramEncoding):
        return mechanism.support_odds
    return float(mechanism.epsilon)


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_mechanism_keeps_its_claim_and_audits_come_near(name):
    examined = subject(make(name, 2.0))
    found = audit(examined, runs=60_000 if name in RARE_EVENTS else 20_000, rng=rng())
    assert examined.epsilon == 2
    assert examined.tight
    assert found.holds, found.bounds
    assert found.bound >= 0.75 * examined.epsilon


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_mechanism_at_other_epsilons(name, epsilon):
    mechanism = make(name, epsilon)
    # The event that tells streams apart happens once in 70.
    runs = 1_600_000 if name == "SparseVector" else 400_000
    found = audit(subject(mechanism), runs=runs, rng=rng(1))
    assert found.holds, found.bounds
    assert found.bound >= 0.75 * attainable(mechanism)


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.long)])
def test_sparse_vector_with_more_answers_above_keeps_its_claim(count):
    found = audit(subject(SparseVector(epsilon=2.0, count=count)), runs=20_000, rng=rng())
    assert not found.subject.tight
    assert found.holds, found.bounds
    assert found.bound > 0.3


class FreeThreshold(SparseVector):
    """Spends the whole budget on values and none on the threshold, which has no noise."""

    @property
    def shares(self):
        return 2.0**12, float(self.epsilon)


class NoisyThresholdAlone(SparseVector):
    """Compares values without noise with a noisy threshold (algorithm 5 of Lyu, Su and Li)."""

    def _noisy(self, numbers, rng):
        return on_lattice(numbers, self._step())


class UnsplitBudget(BinaryTree):
    """Spends the whole budget on every node instead of sharing it among the levels."""

    @property
    def node_noise(self):
        return DiscreteLaplace(epsilon=float(self.epsilon), sensitivity=self.sensitivity)


class FreshCounts(BinaryTree):
    """Adds fresh noise to every running count instead of to nodes."""

    def repeated(self, events, runs, rng):
        noise = self.node_noise.sample(runs * len(events), rng).reshape(runs, -1)
        return np.cumsum(events) + noise


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("broken", [UnsplitBudget(epsilon=0.5, horizon=8), FreshCounts(epsilon=2.0, horizon=64)])
def test_broken_trees_are_caught_before_the_honest_one_is_believed(broken):
    found = audit(subject(broken), runs=10_000, rng=rng())
    assert not found.holds
    honest = BinaryTree(**broken.get_params())
    assert audit(subject(honest), runs=10_000, rng=rng()).holds


@pytest.mark.thorough
def test_a_tree_without_bulk_draws_is_audited_run_by_run():
    class Slow(BinaryTree):
        def release(self, events, rng):
            stream = self.start(rng)
            return np.array([stream.add(int(event)) for event in events])

    found = audit(subject(Slow(epsilon=2.0, horizon=2)), runs=1000, rng=rng())
    assert found.holds
    assert found.bound > 0.8


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("broken", [FreeThreshold(epsilon=0.5), NoisyThresholdAlone(epsilon=4.0)])
def test_broken_sparse_vectors_are_caught(broken):
    assert not audit(subject(broken), runs=20_000, rng=rng()).holds


@pytest.mark.thorough
def test_default_mechanisms_pass_at_a_small_delta():
    assert audit(subject(Gaussian()), runs=60_000, rng=rng()).holds


@pytest.mark.thorough
@pytest.mark.usefixtures("declarations_are_believed")
def test_microdata_that_claims_epsilon():
    found = audit(subject(RetentionReplacement(epsilon=1.0)), runs=100_000, rng=rng())
    assert found.holds
    assert found.bound >= 0.75


def claiming():
    """Exported defenses that claim an epsilon of the audited tables."""
    for name, cls in exported("defenses").items():
        try:
            if example(cls).guarantee(table(0)).epsilon is not None and cls.kind in ("microdata", "statistics"):
                yield name
        except ValueError:  # they need other columns
            continue


@pytest.mark.long
@pytest.mark.parametrize("name", list(claiming()))
def test_every_defense_keeps_its_claim(name):
    """Four hundred releases prove no claim wrong by less than about 1; what is found must not exceed it."""
    found = audit(subject(example(exported("defenses")[name])), runs=400, rng=rng())
    assert found.holds, found.bounds


def test_a_sampled_release_is_the_release():
    """Audits of noise sample it at once; a release is the same number."""
    from scenarios.checks.audits.subjects import _base

    for name in ("Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian", "Staircase"):
        assert _base(make(name, 1.0), 1) == pytest.approx(1, abs=1e-6)
    assert (
        _base(SimpleNamespace(release=lambda value, rng: -value, sample=lambda size, rng: rng.random(size)), 1) is None
    )


@pytest.mark.thorough
def test_false_alarms_are_as_rare_as_stated():
    """300 audits of an exact claim at 90 %: 30 alarms expected at most; 3 standard deviations more are 46."""
    honest = Subject("", 1.0, 0.0, (Neighbours("", *(bits(p) for p in (0.6, 0.6 / math.e))),))
    alarms = sum(not audit(honest, runs=400, confidence=0.9, rng=rng(seed)).holds for seed in range(300))
    assert alarms <= 46


def bits(probability):
    return lambda runs, rng: (rng.random((runs, 1)) < probability).astype(float)


# Broken mechanisms


class WholeBudgetOnEachBit(SymmetricUnaryEncoding):
    """Flips each bit as if it had the whole budget; two values differ in two bits."""

    @property
    def p(self):
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def q(self):
        return 1 - self.p


@pytest.mark.thorough
def test_whole_budget_on_each_bit_is_caught():
    found = audit(subject(WholeBudgetOnEachBit(epsilon=0.25, d=16)), runs=50_000, rng=rng())
    assert not found.holds
    assert 0.25 < found.bound <= 0.5


class HalfTheSensitivity(Laplace):
    """Scales its noise for half of the sensitivity that it states."""

    def _steps(self, dimensions):
        steps = steps_between(self.sensitivity / 2, self.resolution, dimensions)
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=steps)


@pytest.mark.thorough
def test_half_the_sensitivity_is_caught():
    found = audit(subject(HalfTheSensitivity(epsilon=1.0, sensitivity=3.0)), runs=40_000, rng=rng())
    assert 1.8 < found.bound <= 2


class AlwaysTheBest(Exponential):
    """Chooses the highest score, without noise; what simulates many choices is left as it was."""

    def release(self, scores, rng):
        return int(np.argmax(scores))


class WithoutNoise(SparseVector):
    """Compares values without noise; what simulates many streams is left as it was."""

    def release(self, values, rng):
        return np.asarray(values) >= self.threshold


class NowAndThenFarOff(DiscreteLaplace):
    """Adds a million to one answer in twenty, which gives the value away."""

    def release(self, value, rng):
        return int(value) + 10**6 if rng.random() < 0.05 else super().release(value, rng)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("broken", [AlwaysTheBest(), WithoutNoise(), NowAndThenFarOff()])
def test_what_is_run_is_release_itself(broken):
    assert not audit(subject(broken), runs=4000, rng=rng()).holds


class DrawnInBulk(NowAndThenFarOff):
    """Declares that `release` adds what `sample` draws, which holds for all but one answer in twenty."""

    @drawn_in_bulk
    def release(self, value, rng):
        return super().release(value, rng)


def test_a_mechanism_may_declare_that_it_can_be_sampled():
    assert draws_in_bulk(DiscreteLaplace())
    assert not draws_in_bulk(NowAndThenFarOff())
    assert draws_in_bulk(DrawnInBulk())
    assert subject(DrawnInBulk()).runs == ONE_BY_ONE, "`release` differs from value plus noise, so it is run itself"
    assert subject(DiscreteLaplace()).runs > ONE_BY_ONE


class SomeCellsAreYes(MicrodataDefense):
    """Replaces some cells by 'yes', which is no privacy; declares that records are randomized independently."""

    randomizes_records_independently = True

    def __init__(self, *, epsilon=1.0):
        self.epsilon = epsilon

    def guarantee(self, records):
        return Guarantee(epsilon=self.epsilon, delta=0.0)

    def apply(self, records, rng):
        frame = released_frame(records)
        kept = rng.random(len(frame)) < math.exp(self.epsilon) / (1 + math.exp(self.epsilon))
        frame["answer"] = frame["answer"].where(kept, "yes")
        frame["amount"] = 0.0
        return rowwise_release(frame, None)


@pytest.mark.thorough
def test_a_defense_may_declare_that_records_are_randomized_independently():
    """The audit then runs it on copies of one record. 'yes' is never released as 'no', which no epsilon allows."""
    audited = subject(SomeCellsAreYes())
    assert audited.runs == COPIES
    assert not audit(audited, runs=2000, rng=rng()).holds


class OrderTells(RetentionReplacement):
    """Reverses the rows if the first record holds the last category; the cells keep the claim."""

    randomizes_records_independently = False

    def apply(self, records, rng):
        release = super().apply(records, rng)
        if not self.tells(records):
            return release
        order = self.order(len(records))
        return replace(release, frame=release.frame.iloc[order].reset_index(drop=True), origin=release.origin[order])

    def tells(self, records):
        return records.frame["answer"].iloc[0] == "yes"

    def order(self, n):
        return np.arange(n)[::-1]


class PlaceTells(OrderTells):
    """Puts the first record's row last if it holds the last category."""

    def order(self, n):
        return np.roll(np.arange(n), -1)


class OrderTellsNothing(OrderTells):
    """Reverses the rows by a fair coin, which is honest."""

    def apply(self, records, rng):
        self._coin = rng.random() < 0.5
        return super().apply(records, rng)

    def tells(self, records):
        return self._coin


class TypeTells(OrderTells):
    """Stores a column in another type if the first record holds the last category."""

    def apply(self, records, rng):
        release = RetentionReplacement.apply(self, records, rng)
        kind = "category" if self.tells(records) else object
        return replace(release, frame=release.frame.astype({"answer": kind}))


def first_record(defense):
    """The audit on the tables that differ in the first record's category, without those of two categories."""
    examined = subject(defense)
    return replace(examined, neighbours=examined.neighbours[:1])


@pytest.mark.thorough
@pytest.mark.long_for("PlaceTells", "TypeTells")
@pytest.mark.parametrize("broken", [OrderTells, PlaceTells, TypeTells])
def test_order_and_types_of_rows_that_tell_the_first_record_are_caught(broken):
    result = audit(first_record(broken(epsilon=0.5)), runs=160, rng=rng())
    assert not result.holds
    assert result.bound > 2


@pytest.mark.thorough
def test_an_order_of_rows_that_tells_nothing_passes():
    assert audit(first_record(OrderTellsNothing(epsilon=0.5)), runs=160, rng=rng()).holds


class FloatingPointLaplace:
    """The textbook's noise on doubles."""

    def __init__(self, *, epsilon=1.0, sensitivity=1.0):
        self.epsilon = epsilon
        self.sensitivity = sensitivity

    def sample(self, size, rng):
        return rng.laplace(0, self.sensitivity / self.epsilon, size)

    def release(self, value, rng):
        return value + self.sample(1, rng)[0]


@pytest.mark.thorough
@pytest.mark.parametrize("sensitivity", [1.0, 1e-9])
def test_floating_point_laplace_is_caught(sensitivity):
    found = audit(subject(FloatingPointLaplace(sensitivity=sensitivity)), runs=20_000, rng=rng())
    assert found.bound > 5


# What cannot be audited


@pytest.mark.parametrize("runs", [0, 7, 10.5])
def test_runs_are_checked(runs):
    with pytest.raises(ValueError, match="runs"):
        audit(subject(Laplace()), runs=runs, rng=rng())


@pytest.mark.parametrize("confidence", [0.0, 1.0, math.nan])
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match="confidence"):
        audit(subject(Laplace()), runs=100, confidence=confidence, rng=rng())


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("Laplac", {}, "did you mean 'Laplace'"),
        ("Laplace", {"epsilon": 0}, "epsilon"),
        ("Laplace", {"eps": 1}, "did you mean 'epsilon'"),
        ("no_such_module:X", {}, "cannot import"),
        ("math:X", {}, "no class"),
        (":X", {}, "must name"),
        ("Mondrian", {"k": 2}, "claims no epsilon"),
        ("LocalReports", {"column": "answer"}, "audit the mechanism"),
        ("SequenceFragmentPuzzle", {}, "at most"),
        ("DiscreteLaplace", {"sensitivity": 0.5}, "sensitivity"),
        ("fractions:Fraction", {}, "neither"),
    ],
)
def test_what_cannot_be_audited(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        subject(mechanism_of(name, parameters))


# The command


def run(*arguments):
    return CliRunner().invoke(cli, ["audit", *arguments])


@pytest.mark.thorough
def test_command_passes():
    result = run("Laplace", "-p", "epsilon=0.5", "--runs", "4000")
    assert result.exit_code == 0, result.output
    assert "claimed: epsilon 0.5" in result.output
    assert "no evidence against" in result.output
    assert run("Laplace", "-p", "epsilon=0.5", "--runs", "4000").output == result.output


@pytest.mark.thorough
def test_command_fails_a_broken_mechanism():
    name = f"{FloatingPointLaplace.__module__}:FloatingPointLaplace"
    result = run(name, "-p", "epsilon=1", "--runs", "4000", "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.output)
    assert found["violated"] is True
    assert "note" not in found
    assert found["half_noise_caught"] is None
    assert found["epsilon_at_least"] > found["epsilon"] == 1
    text = run(name, "--runs", "4000").output
    assert "FAILED" in text
    assert "half the noise" not in text


@pytest.mark.thorough
def test_json_claims_no_more_than_the_text():
    """Without evidence the claim is not violated, which does not mean that it holds; the text's note is there too."""
    few = ["Gaussian", "--runs", "4000"]
    found = json.loads(run(*few, "--format", "json").output)
    assert found["violated"] is False
    assert "holds" not in found
    assert found["note"] == run(*few).output.splitlines()[-1]
    assert "too few to see events of probability delta" in found["note"]


@pytest.mark.parametrize(
    ("arguments", "words", "caught"),
    [
        (["Laplace", "-p", "epsilon=1", "--runs", "4000"], "would catch half the noise: with twice the epsilon", True),
        (["Laplace", "-p", "epsilon=0.05", "--runs", "400"], "would not catch half the noise", False),
        (["Laplace", "-p", "epsilon=1", "--one-run", "--canaries", "16", "--runs", "1"], "would not catch half", False),
        # Its guarantee follows from the retention, and no larger epsilon can be asked for.
        pytest.param(
            ["RetentionReplacement", "-p", "retention=0.3", "--runs", "40"],
            "not known what this audit would",
            None,
            marks=pytest.mark.thorough,
        ),
        (["Laplace", "-p", "epsilon=1048576", "--runs", "400"], "not known what this audit would", None),
    ],
)
@pytest.mark.usefixtures("declarations_are_believed")
def test_command_says_whether_half_the_noise_would_be_caught(arguments, words, caught):
    assert words in run(*arguments).output
    found = json.loads(run(*arguments, "--format", "json").output)
    assert found["half_noise_caught"] is caught
    bound = found["half_noise_epsilon_at_least"]
    assert bound is None if caught is None else (bound > found["epsilon"]) is caught


class Unfit:
    """What somebody may have written who does not know the contract."""

    epsilon = 1.0

    def __init__(self, *, fault="raises"):
        self.fault = fault
        self.epsilon = {"endless": math.inf, "no number": math.nan, "negative": -1.0}.get(fault, 1.0)

    def release(self, value, rng):
        if self.fault == "raises":
            raise KeyError("nothing here")
        return {"text": "five", "ragged": np.zeros(1 + int(rng.integers(2)))}.get(self.fault, value)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raises", "cannot be run: KeyError: 'nothing here'"),
        ("text", "Unfit.release must return numbers"),
        ("ragged", "Unfit.release must return numbers, always as many"),
        ("endless", "epsilon that"),
        ("no number", "epsilon that"),
        ("negative", "epsilon that"),
    ],
)
def test_command_says_what_is_wrong_with_somebodys_mechanism(fault, words):
    result = run(f"{Unfit.__module__}:Unfit", "-p", f"fault={fault}", "--runs", "100")
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [["Laplac"], ["Laplace", "-p", "epsilon=0"], ["Laplace", "-p", "epsilon"], ["Laplace", "--confidence", "1"]],
)
def test_command_refuses_bad_input(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
