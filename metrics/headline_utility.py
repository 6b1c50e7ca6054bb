"""Utility of one release as one number: the mean of its components."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def headline_utility(scores: Mapping[str, float | None]) -> tuple[float, dict[str, float | None]]:
    """Utility of one release, the mean of its components, and these components.

    Parameters
    ----------
    scores : mapping of str to float or None
        What `TableUtility.score` returns. The areas under the curve become the component ``classifier``, which is
        anchored at 1/2 and at the classifier of the original. It is left out if that one does not exceed 1/2.
    """
    components = dict(scores)
    auc, best = components.pop("classifier_auc"), components.pop("classifier_auc_original")
    if auc is not None and best is not None and best > 0.5:
        components["classifier"] = min(1.0, max(0.0, (auc - 0.5) / (best - 0.5)))
    return float(np.mean([value for value in components.values() if value is not None])), components
