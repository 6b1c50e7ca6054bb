"""Which parts of a declared promise a released table can refute, and which rest on the declaration alone."""

from __future__ import annotations

from defenses.base.guarantee import Guarantee
from scenarios.finished.release_evaluation import ReleaseEvaluation

NAMES = {"k": "k", "l": "l", "t": "t", "epsilon": "epsilon", "delta": "delta", "pk": "Pk"}
"""Parts of a guarantee, as reports name them."""


def refuse_false_promise(promised: Guarantee, evaluation: ReleaseEvaluation, name: str) -> None:
    """Refuse a promise that the release does not keep: another defense made it.

    Parameters
    ----------
    promised : Guarantee
        The promise of the declared defense.
    evaluation : ReleaseEvaluation
        The release.
    name : str
        The defense with its parameters.

    Raises
    ------
    ValueError
        If the release has a smaller k than was promised.
    """
    if promised.k is not None and evaluation.k is not None and evaluation.k < promised.k:
        raise ValueError(
            f"--defense: {name} promises k = {promised.k}, but the release has k = {evaluation.k}: it was not made so"
        )


def unchecked_words(promised: Guarantee, evaluation: ReleaseEvaluation) -> str:
    """Sentence that names the parts of a promise which were not checked in the table; empty if there are none."""
    checked = {"k"} if evaluation.k is not None else set()
    names = [shown for part, shown in NAMES.items() if getattr(promised, part) is not None and part not in checked]
    if not names:
        return ""
    return f"As declared with --defense, not checked in the released table: {', '.join(names)}."
