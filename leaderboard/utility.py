"""Headline utility of a defense's releases, with its interval across plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics import Estimate

ANCHORED = ("marginals", "associations", "queries")
OWN = "utility_"
"""Prefix of the components that a game anchors by itself."""
_CLASSIFIER = ("classifier_auc", "classifier_auc_original")


@dataclass(frozen=True)
class Utility:
    """Headline utility and the components of which it is the mean.

    Parameters
    ----------
    headline : Estimate
        Mean of the components, with its interval across plays.
    components : dict of float
        Each component over all plays, in [0, 1].
    """

    headline: Estimate
    components: dict[str, float]


def pooled_utility(plays: Sequence[Mapping[str, float | None]], confidence: float = 0.95) -> Utility | None:
    r"""Utility over plays, 1 = as good as the original, 0 = a constant table.

    Marginals, associations and queries are anchored play by play, and averaged, and so is every component that a game
    names ``utility_`` and something. The classifier's part is a ratio whose
    denominator is noisy in a single play, so it is pooled first: with A and A₀ the mean areas under the curve of
    classifiers trained on releases and on originals, it is (A - 1/2) / (A₀ - 1/2), clipped to [0, 1], and left out
    where A₀ does not exceed 1/2. A component that no play has is left out.

    The interval is Student's with the jackknife's variance: with u₍ᵢ₎ the headline without play i and u₍.₎ their
    mean, v = (n - 1)/n ∑ᵢ (u₍ᵢ₎ - u₍.₎)². A single play shows no spread: its interval is [0, 1],
    which says nothing.

    Parameters
    ----------
    plays : sequence of mapping
        Values of one release per play.
    confidence : float
        Level of the interval, in (0, 1).

    Returns
    -------
    Utility or None
        None where no component was measured.

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


def headlines_without(plays: Sequence[Mapping[str, float | None]]) -> NDArray[np.float64]:
    """Headline utility without each of the plays, shape (plays,); NaN where the others measured nothing."""
    return _left_out(_table(plays)[1])


def jackknife_deviation(left_out: NDArray[np.float64]) -> float:
    """Standard deviation of a statistic, from its values without each of n plays, shape (n,)."""
    n = left_out.size
    return float(np.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum()))


def _table(plays: Sequence[Mapping[str, float | None]]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Names of the anchored components, and what each play measured of them and of the classifier's two areas."""
    own = sorted({name for play in plays for name in play if name.startswith(OWN)})
    names = (*ANCHORED, *own, *_CLASSIFIER)
    table = np.array([[play.get(name) for name in names] for play in plays], dtype=float).reshape(-1, len(names))
    # The classifier's two areas belong together: one without the other says nothing.
    table[np.isnan(table[:, -2:]).any(axis=1), -2:] = np.nan
    return (*ANCHORED, *(name.removeprefix(OWN) for name in own)), table


def _left_out(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Headline without each row of a table of measurements, shape (rows,)."""
    present, values = ~np.isnan(table), np.nan_to_num(table)
    without = _components(values.sum(axis=0) - values, present.sum(axis=0) - present)
    measured = ~np.isnan(without)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = np.nan_to_num(without).sum(axis=1) / measured.sum(axis=1)
    return mean


def _components(sums: NDArray[np.float64], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Components, shape (..., c - 1), of sums and counts over plays, shape (..., c); NaN where none was measured."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        release, original = means[..., -2] - 0.5, means[..., -1] - 0.5
        classifier = np.where(original > 0, np.clip(release / original, 0, 1), np.nan)
    return np.concatenate([means[..., :-2], classifier[..., None]], axis=-1)
