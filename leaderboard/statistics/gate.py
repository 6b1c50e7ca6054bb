"""Gates: bounds on utility, success and advantage that every defense of a board must meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, comb, floor

from leaderboard import Exposure, Result, Row, Success, exposures, label, matrix, rank
from leaderboard.pages import counted, exact, number, place_title
from leaderboard.results import goal_words, grouped_by
from leaderboard.statistics.exposure import BoundedAttack
from leaderboard.statistics.pairs import PlacedSetting, judged, play_errors
from leaderboard.statistics.play_bounds import IF_PLAYS_VARY, LEVEL, how_met, to_be_sure, upper_advantage
from metrics.columns import refuse

# Attacks with too few trials to be judged on a board that are right more often than guessing: a gate counts them.

Identity = tuple[str, str, str, str]
"""A setting of a defense in one variant of a game: scenario, variant, class name, canonical parameters."""


@dataclass(frozen=True)
class FewTrials(BoundedAttack):
    """An attack with fewer than `success.FEWEST_TRIALS` trials that is right more often than guessing.

    - goal, attack: Goal of the attack, and its class name.
    - advantage, upper: Its advantage, and the upper bound of it.
    - trials: Number of its trials over all plays; plays that differ in it count as their harmonic mean.
    """

    trials: int


def few_but_right(results: Sequence[Result]) -> Mapping[Identity, list[FewTrials]]:
    """Attacks on each setting with too few trials to be judged whose success guessing would hardly have.

    - results: Releases and trials, at most one per release and trial.

    Their `probability_by_guessing` is at most 1 - `LEVEL`, divided by the number of attacks and goals on the setting
    (Bonferroni). The upper bounds hold together with `LEVEL`.
    """
    outcomes = grouped_by(
        ((pair, success) for pair in matrix(results) for success in pair.successes.values()),
        lambda outcome: outcome[0].identity,
    )
    found: dict[Identity, list[FewTrials]] = defaultdict(list)
    for identity, own in outcomes.items():
        error = (1 - LEVEL) / len(own)
        for pair, success in own:
            if not judged(success) and probability_by_guessing(success) <= error:
                upper = upper_advantage(success, LEVEL, len(own))
                trials = len(success.rates) * success.trials
                attack = (success.goal, pair.attack, pair.attack_parameters)
                found[identity].append(FewTrials(*attack, success.advantage, upper, trials))
    return found


def probability_by_guessing(success: Success) -> float:
    """Probability that guessing has at least as many successes, over all plays.

    It is the larger of two. Tests of the pooled trials are exact if trials are independent: that of the binomial
    distribution if the chance level is known, and Fisher's if it is the rate in a control group. Normal approximations
    fail at a few trials and small chance levels. Where plays differ, Student's test of their advantages counts each
    play once, since the trials of a play share its people and its release.

    Examples
    --------
    Two hits in 28 trials are luck if a control group of 28 has none; 28 hits are not:

    >>> [round(probability_by_guessing(Success("singling_out", (rate,), 28, 0.0, 28)), 3) for rate in (2 / 28, 1.0)]
    [0.245, 0.0]
    """
    return max(_by_trials(success), _by_plays(success))


def _by_plays(success: Success) -> float:
    """Student's test of the advantages of plays; 0 if they do not differ, which says nothing against guessing."""
    from scipy.special import stdtr

    errors = play_errors(success)
    deviation = float(errors.std(ddof=1)) if errors.size > 1 else 0.0
    if deviation < 1e-12:
        return 0.0
    return float(stdtr(errors.size - 1, -success.advantage * errors.size**0.5 / deviation))


def _by_trials(success: Success) -> float:
    """Exact test of the pooled trials."""
    plays = len(success.rates)
    trials = plays * success.trials
    # Mean numbers of trials are rounded: a number of hits that is none is taken to the side of guessing.
    hits = min(trials, floor(success.mean_rate * trials + 1e-9))
    if success.control_trials is None:
        chance = success.chance
        return sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(hits, trials + 1))
    control = plays * success.control_trials
    right = hits + min(control, ceil(success.chance * control - 1e-9))
    ways = sum(comb(trials, k) * comb(control, right - k) for k in range(hits, min(trials, right) + 1))
    return ways / comb(trials + control, right)


@dataclass(frozen=True, kw_only=True)
class GateBounds:
    """Bounds that every defense must meet; each lies between 0 and 1.

    Parameters
    ----------
    min_utility : float, optional
        Lower bound of the estimated utility.
    max_success : float, optional
        Upper bound of the estimated success rate of the worst attack. Who guesses members is right half the time.
    max_advantage : mapping of str or None to float
        Upper bounds of the advantage by goal; the key None bounds the worst attack of all goals. What must not exceed
        the bound is the upper end of the advantage's interval, as in `leaderboard.utility_left`. It holds if plays vary
        as they did here; `GateCheck.sure` says whether it holds however they vary. Attacks with too few trials to be
        judged count, too, if they are right significantly more often than guessing (`few_but_right`).

    Raises
    ------
    ValueError
        If a bound does not lie between 0 and 1.
    """

    min_utility: float | None = None
    max_success: float | None = None
    max_advantage: Mapping[str | None, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = {
            "min_utility": self.min_utility,
            "max_success": self.max_success,
            **{
                "max_advantage" if goal is None else f"max_advantage[{goal}]": limit
                for goal, limit in self.max_advantage.items()
            },
        }
        for name, bound in given.items():
            refuse(bound is not None and not 0 <= bound <= 1, f"{name} must lie between 0 and 1, got {bound}")

    def __bool__(self) -> bool:
        """Whether there is any bound."""
        return bool(self.max_advantage) or self.min_utility is not None or self.max_success is not None


@dataclass(frozen=True, kw_only=True)
class GateCheck(PlacedSetting):
    """One bound of a gate on one defense.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game.
    defense : str
        Class name.
    parameters : dict
        Its parameters.
    bound : str
        What is bounded, such as ``utility at least .4`` or ``advantage on rows at most .1``.
    passed : bool
        Whether the defense meets the bound. A missing estimate does not.
    finding : str
        What was measured, such as ``utility .312 is below .400``.
    sure : bool or None
        Whether a bound of the advantage that is met is met however plays vary, or only in these plays. None for others.
    clean_plays : int or None
        Fewest plays after which a bound of the advantage can be sure
        (`leaderboard.statistics.play_bounds.clean_plays`).
    """

    bound: str
    passed: bool
    finding: str
    sure: bool | None = None
    clean_plays: int | None = None

    @classmethod
    def of(
        cls, row: Row, bound: str, passed: bool, finding: str, sure: bool | None = None, clean_plays: int | None = None
    ) -> GateCheck:
        """Make the check of a bound on the defense in a row of a board."""
        return cls(
            scenario=row.scenario,
            variant=row.variant,
            defense=row.defense,
            parameters=row.parameters,
            bound=bound,
            passed=passed,
            finding=finding,
            sure=sure,
            clean_plays=clean_plays,
        )

    @property
    def place(self) -> str:
        """Title of the scenario and variant."""
        return place_title(self.scenario, self.variant)

    @property
    def reason(self) -> str:
        """The defense and the finding, in one line."""
        return f"{self.place}: {label(self.defense, self.parameters)}: {self.finding}"


def gate_checks(results: Sequence[Result], bounds: GateBounds) -> list[GateCheck]:
    """Compare every defense with every bound, in the order of the board.

    A bound on one goal concerns the scenarios and variants in which any attack pursued it.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial.
    bounds : GateBounds
        The bounds.

    Examples
    --------
    >>> from leaderboard import GateBounds, Result, gate_checks
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Mondrian"}
    >>> scores = {"membership": Score("membership", rate=0.75, chance=0.5, trials=100)}
    >>> trials = [Result(key=f"{p:064}", attack="Homer", play=p, scores=scores, **common) for p in range(20)]
    >>> [check] = gate_checks(trials, GateBounds(max_advantage={"membership": 0.3}))
    >>> check.passed, check.bound
    (False, 'advantage on members at most .3')
    >>> check.reason
    'bank: Mondrian: advantage of Homer on members .500 (up to .531) is above .300'
    >>> [check] = gate_checks(trials, GateBounds(max_advantage={None: 0.55}))
    >>> check.passed, check.sure, check.clean_plays
    (True, False, 4)
    >>> check.finding.partition(" is ")[2]
    'at most .550 in these 20 plays, if plays vary as they did here'
    """
    settings = {setting.identity: setting for setting in exposures(results)}
    measured = {(*setting.place, goal) for setting in settings.values() for goal in setting.goals}
    few_trials = few_but_right(results) if bounds.max_advantage else {}
    checks = []
    for row in rank(results):
        compared: list[tuple[str, bool, str] | tuple[str, bool, str, bool | None, int | None]] = []
        if bounds.min_utility is not None:
            compared.append(_estimated("utility", row.utility, bounds.min_utility, at_least=True))
        if bounds.max_success is not None:
            attack = "" if row.worst_attack is None else f" of {label(row.worst_attack, row.worst_parameters or {})}"
            compared.append(_estimated("success", row.success, bounds.max_success, attack, at_least=False))
        for goal, bound in bounds.max_advantage.items():
            few = [one for one in few_trials.get(row.identity, ()) if goal in (None, one.goal)]
            if any(one.upper > bound for one in few) or goal is None or (row.scenario, row.variant, goal) in measured:
                compared.append(_advantage(settings.get(row.identity), few, goal, bound))
        checks += [GateCheck.of(row, *outcome) for outcome in compared]
    return checks


def unmeasured_goals(results: Sequence[Result], bounds: GateBounds) -> list[str]:
    """Goals with a bound that no attack among the results pursued with enough trials to be judged."""
    bounded = [goal for goal in bounds.max_advantage if goal is not None]
    measured = {goal for setting in exposures(results) for goal in setting.goals} if bounded else set()
    return [goal for goal in bounded if goal not in measured]


def _estimated(
    name: str, value: float | None, bound: float, attack: str = "", *, at_least: bool
) -> tuple[str, bool, str]:
    """Name of the bound of an estimate, whether it is met, and what was measured."""
    within, beyond = ("at least", "below") if at_least else ("at most", "above")
    passed = value is not None and (value >= bound if at_least else value <= bound)
    finding = f"{name}{attack} {number(value, 3)} is {within if passed else beyond} {number(bound, 3)}"
    return f"{name} {within} {exact(bound)}", passed, finding


def _advantage(
    setting: Exposure | None, few: Sequence[FewTrials], goal: str | None, bound: float
) -> tuple[str, bool, str, bool | None, int | None]:
    """The same of the advantage, whether the bound is sure, and after how many plays it can be.

    `few` are attacks with few trials that are right more often than guessing.
    """
    name = f"advantage{'' if goal is None else f' on {goal_words(goal)}'} at most {exact(bound)}"
    judged = None if setting is None else setting.worst(goal)
    worst: BoundedAttack | None = judged
    above = [one for one in few if one.upper > bound]
    if above and (worst is None or worst.upper <= bound):
        worst = max(above, key=lambda one: one.advantage)
    if worst is None:
        return name, False, "advantage was not measured by enough trials", None, None
    attack = f"{label(worst.attack, worst.attack_parameters)} on {goal_words(worst.goal)}"
    after = f" after {counted(worst.trials, 'trial')}" if isinstance(worst, FewTrials) else ""
    measured = f"advantage of {attack} {number(worst.advantage, 3)} (up to {number(worst.upper, 3)}{after})"
    if judged is None or worst.upper > bound:
        return name, False, f"{measured} is above {number(bound, 3)}", None, None
    # Nothing is sure about an attack with few trials that is right more often than guessing.
    sure, needed = not few and judged.is_sure(bound), judged.plays_to_be_sure(bound)
    finding = f"{measured} is at most {number(bound, 3)} {how_met(judged.plays, sure=sure)}"
    return name, True, finding, sure, needed


# What a gate could not check: failed trials, goals that nobody measured, and what plays do not show.

FEW_PLAYS = 5
"""With fewer plays, a gate says what they do not show."""
RARE = 0.2
"""Share of releases that go wrong, in the example of what few plays do not show."""


def gap_checks(results: Sequence[Result], bounds: GateBounds) -> list[GateCheck]:
    """Failing checks of every defense with failed releases or trials, and of every goal that nobody measured.

    - results: Releases and trials, at most one per release and trial.

    Examples
    --------
    >>> trial = Result(key="1", scenario="bank", defense="Mondrian", attack="Homer", play=0, status="timeout")
    >>> for check in gap_checks([trial], GateBounds(max_advantage={"attribute": 0.1})):
    ...     print(check.reason)
    bank: Mondrian: 1 release or trial failed
    bank: Mondrian: no attack on values was measured by enough trials
    """
    unmeasured = unmeasured_goals(results, bounds)
    checks = []
    for row in rank(results):
        if row.failures:
            count = f"{row.failures} releases and trials" if row.failures > 1 else "1 release or trial"
            checks.append(GateCheck.of(row, "no release or trial fails", False, f"{count} failed"))
        for goal in unmeasured:
            words = goal_words(goal)
            bound = f"advantage on {words} at most {exact(bounds.max_advantage[goal])}"
            checks.append(GateCheck.of(row, bound, False, f"no attack on {words} was measured by enough trials"))
    return checks


def few_plays_note(results: Sequence[Result]) -> str:
    """What the plays of a defense do not show if they are fewer than `FEW_PLAYS`; empty if they are enough.

    Let each release go wrong with probability p. All of n releases are right with probability (1 - p)ⁿ.

    Examples
    --------
    >>> few_plays_note([Result(key=f"{play}", scenario="bank", defense="Mondrian", play=play) for play in range(2)])
    '2 plays miss a defense that goes wrong in .2 of its releases with probability .64: give more --plays'
    """
    settings = grouped_by(
        (result for result in results if result.status == "ok"),
        lambda result: (result.scenario, result.defense, result.parameters_text),
    )
    fewest = min((len({result.play for result in own}) for own in settings.values()), default=FEW_PLAYS)
    if fewest >= FEW_PLAYS:
        return ""
    missed = number((1 - RARE) ** fewest)
    verb = "misses" if fewest == 1 else "miss"
    wrong = f"a defense that goes wrong in {exact(RARE)} of its releases"
    return f"{counted(fewest, 'play')} {verb} {wrong} with probability {missed}: give more --plays"


def not_sure_note(checks: Sequence[GateCheck]) -> str:
    """How many bounds of the advantage are met in these plays and not for sure; empty if there is none.

    Examples
    --------
    >>> from leaderboard import gate_checks
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Constant", "attack": "Homer"}
    >>> scores = {"membership": Score("membership", rate=0.5, chance=0.5, trials=10_000)}
    >>> trials = [Result(key=f"{play}", play=play, scores=scores, **common) for play in range(5)]
    >>> not_sure_note(gate_checks(trials, GateBounds(max_advantage={None: 0.05})))
    '1 bound of the advantage is met in these plays, if plays vary as they did here; to be sure takes at least 59 plays'
    >>> not_sure_note(gate_checks(trials, GateBounds(max_advantage={None: 0.5})))
    ''
    """
    open_checks = [check for check in checks if check.passed and check.sure is False]
    if not open_checks:
        return ""
    verb = "is" if len(open_checks) == 1 else "are"
    plays = [check.clean_plays for check in open_checks]
    needed = None if None in plays else max(count for count in plays if count is not None)
    bounds = counted(len(open_checks), "bound")
    return f"{bounds} of the advantage {verb} met in these plays, {IF_PLAYS_VARY}; {to_be_sure(needed)}"
