"""Evaluations of releases as JSON text, for the database of results."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from metrics.score import Score
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.evaluation.release_evaluation import ReleaseEvaluation


def written_evaluation(evaluation: ReleaseEvaluation) -> str:
    """An evaluation as JSON; the order of names is kept, so that reports of it stay the same."""
    return json.dumps(asdict(evaluation), ensure_ascii=False, allow_nan=False, default=lambda number: number.tolist())


def read_evaluation(text: str) -> ReleaseEvaluation:
    """The evaluation that `written_evaluation` wrote.

    Raises
    ------
    ValueError
        If the text was changed by others.
    """
    try:
        content = json.loads(text)
        outcomes = tuple(_outcome(outcome) for outcome in content.pop("outcomes"))
        return ReleaseEvaluation(**{**content, "outcomes": outcomes, "notes": tuple(content["notes"])})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"a stored evaluation is damaged ({type(error).__name__})") from None


def _outcome(content: dict[str, Any]) -> MeasuredAttack:
    score = content["score"]
    return MeasuredAttack(**{**content, "score": None if score is None else Score(**score)})
