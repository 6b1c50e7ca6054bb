"""Headline utility of a defense's releases, with its interval across plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrics import Estimate
from metrics.arrays import Floats, Integers

ANCHORED = ("marginals", "associations", "queries")
OWN = "utility_"
"""Prefix of a game's own components, which the game anchors itself."""
LEARNABLE = 0.05
"""Area beyond 1/2 that a classifier of the original needs; a smaller one is noise, and so is a ratio to it."""
_CLASSIFIER = ("classifier_auc", "classifier_auc_original")


@dataclass(frozen=True)
class Utility:
    """Headline utility and its components, of which it is the mean.

    Parameters
    ----------
    headline : Estimate
        Mean of the components, with its interval across plays.
    components : dict of float
        Components over all plays, each in [0, 1].
    """

    headline: Estimate
    components: dict[str, float]


def pooled_utility(plays: Sequence[Mapping[str, float | None]], confidence: float = 0.95) -> Utility | None:
    r"""Utility over plays: 1 for the original table, 0 for a constant table.

    Marginals, associations and queries are anchored in each play and averaged over plays. So is every component of a
    game's own, whose name begins with ``utility_``.

    The classifier's component is a ratio whose denominator is noisy in a single play, so it is pooled over plays first.
    Let A and A₀ be the mean areas under the curve of classifiers trained on releases and on originals. The component is
    (A - 1/2) / (A₀ - 1/2), clipped to [0, 1]; it is left out if A₀ does not exceed 1/2 by `LEARNABLE`. A component
    that no play has is left out.

    The interval is Student's with the jackknife variance: with u₍ᵢ₎ the headline without play i and u₍.₎ their
    mean, v = (n - 1)/n ∑ᵢ (u₍ᵢ₎ - u₍.₎)². The interval of a single play, which has no spread, is [0, 1].

    Parameters
    ----------
    plays : sequence of mapping
        Values of the release of each play.
    confidence : float
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    Utility or None
        None if no component was measured.

    References
    ----------
    Efron and Stein (1981), The jackknife estimate of variance.
    """
    from scipy.special import stdtrit

    names, table = _table(plays)
    table = table[~np.isnan(table).all(axis=1)]
    n = len(table)
    present, values = ~np.isnan(table), np.nan_to_num(table)
    components = _components(values.sum(axis=0), present.sum(axis=0))
    measured = ~np.isnan(components)
    if not measured.any():
        return None
    headline = float(components[measured].mean())
    estimate = Estimate(headline, 0.0, 1.0, n)
    if n > 1:
        half = float(stdtrit(n - 1, (1 + confidence) / 2)) * jackknife_deviation(_left_out(table))
        estimate = Estimate(headline, max(0.0, headline - half), min(1.0, headline + half), n)
    parts = dict(zip((*names, "classifier"), components.tolist(), strict=True))
    return Utility(estimate, {name: part for name, part in parts.items() if not np.isnan(part)})


def headlines_without(plays: Sequence[Mapping[str, float | None]]) -> Floats:
    """Leave-one-out headline utilities, shape (plays,); NaN if the other plays measured nothing."""
    return _left_out(_table(plays)[1])


def jackknife_deviation(left_out: Floats) -> float:
    """Jackknife standard deviation of a statistic, from its n leave-one-out values, shape (n,)."""
    n = left_out.size
    return float(np.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum()))


def _table(plays: Sequence[Mapping[str, float | None]]) -> tuple[tuple[str, ...], Floats]:
    """Names of the anchored components, and their values with the classifier's two areas, one row per play."""
    own = sorted({name for play in plays for name in play if name.startswith(OWN)})
    names = (*ANCHORED, *own, *_CLASSIFIER)
    table = np.array([[play.get(name) for name in names] for play in plays], dtype=float).reshape(-1, len(names))
    # The classifier's two areas form a ratio: one without the other is of no use.
    table[np.isnan(table[:, -2:]).any(axis=1), -2:] = np.nan
    return (*ANCHORED, *(name.removeprefix(OWN) for name in own)), table


def _left_out(table: Floats) -> Floats:
    """Headline utility without each row of a table of measurements, shape (rows,)."""
    present, values = ~np.isnan(table), np.nan_to_num(table)
    without = _components(values.sum(axis=0) - values, present.sum(axis=0) - present)
    measured = ~np.isnan(without)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.nan_to_num(without).sum(axis=1) / measured.sum(axis=1)
    return mean


def _components(sums: Floats, counts: Integers) -> Floats:
    """Components, shape (..., c - 1), from sums and counts over plays, shape (..., c); NaN if none was measured."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        release, original = means[..., -2] - 0.5, means[..., -1] - 0.5
        classifier = np.where(original > LEARNABLE, np.clip(release / original, 0, 1), np.nan)
    return np.concatenate([means[..., :-2], classifier[..., None]], axis=-1)
