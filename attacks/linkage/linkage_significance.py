"""Whether the columns of a release jointly point at candidates, and which of them do."""

from __future__ import annotations

import numpy as np

from attacks.linkage.column_models import ColumnModels
from attacks.linkage.column_tables import SMALL_GRID
from attacks.linkage.marginal_likelihood import candidate_weights, gains, marginal_log_likelihood
from metrics.arrays import Floats

# Joint gain, in nats, that may be chance: for a release, for each column, and more for each column with noise on many
# numbers. In shuffled releases it stayed below 2 with 17 mixed columns, 8 with 50 ratings and 31 with 46 columns of
# numbers.
LEAST_GAIN, FOR_EACH_COLUMN, FOR_MANY_NUMBERS = 0.5, 0.15, 0.55
# Weight of evidence that may be chance.
FAINT = 0.01


def joint_gain(models: ColumnModels, evidence: Floats) -> float:
    """Gain in log-likelihood if the cells of a row stem from one candidate, against each from a candidate of its own.

    Parameters
    ----------
    models : ColumnModels
        The fitted models.
    evidence : ndarray of float, shape (rows, candidates)
        Their log-likelihood.
    """
    return marginal_log_likelihood(evidence) - models.separate_log_likelihood()


def evidence_weight(gain: float, models: ColumnModels) -> float:
    """Weight of the evidence: `FAINT` up to the joint gain that may be chance, 1 from twice that, linear between."""
    many = sum(one.noisy and len(one.column.values) > SMALL_GRID for one in models.tables)
    least = LEAST_GAIN + FOR_EACH_COLUMN * len(models.tables) + FOR_MANY_NUMBERS * many
    return float(np.clip((gain - least) / least, FAINT, 1.0))


def information(models: ColumnModels, evidence: Floats) -> Floats:
    """Loss in marginal log-likelihood for each row, in nats, if a column is taken away; shape (columns,)."""
    tables = models.tables
    ratios = [1 / models.ratio(number) for number in range(len(tables))]
    loss = -gains(candidate_weights(evidence), [one.column for one in tables], ratios)
    return np.asarray(loss / max(1, len(evidence)))


def significant(models: ColumnModels, evidence: Floats) -> tuple[Floats, Floats]:
    """Evidence, weakened where the columns together gain nothing, and the information of each column.

    Parameters
    ----------
    models : ColumnModels
        The fitted models.
    evidence : ndarray of float, shape (rows, candidates)
        Their log-likelihood.

    Returns
    -------
    evidence : ndarray of float, shape (rows, candidates)
        Log-likelihood of each row under each candidate.
    information : ndarray of float, shape (columns,)
        As `information`, 0 where a column gains less than its parameters.
    """
    rows, columns = len(evidence), len(models.tables)
    weight = evidence_weight(joint_gain(models, evidence), models)
    if weight < 1:
        evidence = evidence * weight
    if weight <= FAINT:
        return evidence, np.zeros(columns)
    loss = information(models, evidence / weight)
    parameters = np.array([3 if one.noisy else 1 for one in models.tables])
    return evidence, np.where(rows * loss > 0.5 * parameters * np.log1p(rows), loss, 0.0)
