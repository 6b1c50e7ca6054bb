"""Which parts of a declared promise a released table can refute, and which rest on the declaration alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from defenses.base.guarantee import Guarantee
from defenses.grouping.constraints import ROUNDING, EqualCloseness
from leaderboard.pages.number_text import exact
from scenarios.assessment.evaluation.release_evaluation import ReleaseEvaluation

NAMES = {"k": "k", "l": "l", "t": "t", "epsilon": "epsilon", "delta": "delta", "pk": "Pk"}
"""Parts of a guarantee, as reports name them."""
DISTANCE = "t, equal: "
"""How the names of the largest distances begin, one for each sensitive column, among the risks of an evaluation."""


@dataclass(frozen=True)
class PromiseCheck:
    """A promised limit beside the released table.

    Attributes
    ----------
    part : str
        Part of the guarantee.
    promised, measured : float
        What was promised, and what the release has.
    kept : bool
        Whether the release keeps the promise so far as it was measured.
    proves : bool
        Whether keeping it proves the promise. Entropy and recursive l-diversity need more than distinct values.
    """

    part: str
    promised: float
    measured: float
    kept: bool
    proves: bool = True


def refuse_false_promise(
    promised: Guarantee, evaluation: ReleaseEvaluation, name: str, several: Collection[str] = ()
) -> None:
    """Refuse a promise that the release does not keep: another defense made it.

    Parameters
    ----------
    promised : Guarantee
        The promise of the declared defense.
    evaluation : ReleaseEvaluation
        The release.
    name : str
        The defense with its parameters.
    several : collection of str
        Sensitive columns with sets, intervals or ``*``. With any, l and t are not checked, since such cells are no
        values.

    Raises
    ------
    ValueError
        If the release has a smaller k or l than was promised, or a larger t with equal distances.
    """
    for check in _checks(promised, evaluation, several):
        if not check.kept:
            raise ValueError(
                f"--defense: {name} promises {check.part} = {exact(check.promised)}, but the release has "
                f"{check.part} = {exact(check.measured)}: it was not made so"
            )


def unchecked_words(promised: Guarantee, evaluation: ReleaseEvaluation, several: Collection[str] = ()) -> str:
    """Sentence that names the parts of a promise which were not checked in the table; empty if there are none."""
    checked = {check.part for check in _checks(promised, evaluation, several) if check.proves}
    names = [shown for part, shown in NAMES.items() if getattr(promised, part) is not None and part not in checked]
    if not names:
        return ""
    return f"As declared with --defense, not checked in the released table: {', '.join(names)}."


def _checks(promised: Guarantee, evaluation: ReleaseEvaluation, several: Collection[str]) -> Iterator[PromiseCheck]:
    """Parts of the promise that the classes of the release can refute."""
    if promised.k is not None and evaluation.k is not None:
        yield PromiseCheck("k", promised.k, evaluation.k, evaluation.k >= promised.k)
    if several or not evaluation.l:
        return
    if promised.l is not None:
        # A class of entropy or recursive l-diversity has l distinct values, too.
        fewest = min(evaluation.l.values())
        proves = f"distinct {promised.l:g}-diversity" in promised.statement
        yield PromiseCheck("l", promised.l, fewest, fewest >= promised.l - ROUNDING, proves)
    if promised.t is not None and str(EqualCloseness(promised.t)) in promised.statement:
        largest = max(value for name, value in evaluation.risks.items() if name.startswith(DISTANCE))
        yield PromiseCheck("t", promised.t, largest, largest <= promised.t + ROUNDING)
