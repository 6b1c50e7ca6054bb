"""A utility measure of a host's own: whether a logistic regression finds the same coefficients, intervals included."""

import numpy as np

from scenarios import UtilityMeasure


class RegressionCoefficients(UtilityMeasure):
    """Mean overlap of the 95 % intervals of a logistic regression's coefficients in the originals and in the table.

    Parameters
    ----------
    outcome, positive : str
        Column that is explained, and the value that counts as 1.
    columns : list of str
        Columns of numbers and of categories that explain it.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter and Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality, for the overlap of intervals.
    """

    def __init__(self, *, outcome="outcome", positive="yes", columns=("age",)):
        self.outcome = outcome
        self.positive = positive
        self.columns = columns

    @classmethod
    def example(cls):
        """A regression on the invented people of `tokumei check`."""
        return cls(outcome="grade", positive="high", columns=["age", "city"])

    def value(self, tables):
        """The overlap; a coefficient that cannot be estimated overlaps nowhere."""
        before = self._intervals(tables.original, tables.original)
        after = self._intervals(tables.released, tables.original)
        shared = np.minimum(before[1], after[1]) - np.maximum(before[0], after[0])
        overlap = (shared / (before[1] - before[0]) + shared / (after[1] - after[0])) / 2
        return float(np.clip(np.nan_to_num(overlap), 0, 1).mean())

    def _intervals(self, table, original):
        """Ends of the interval of each coefficient; columns are coded and scaled as in the originals."""
        table = table.dropna(subset=[self.outcome, *self.columns])
        parts = [np.ones(len(table))]
        for name in self.columns:
            if original[name].dtype == object:
                parts += [
                    (table[name] == level).to_numpy(float) for level in sorted(original[name].dropna().unique())[1:]
                ]
            else:
                parts.append((table[name].to_numpy(float) - original[name].mean()) / (original[name].std() or 1.0))
        x, y = np.column_stack(parts), (table[self.outcome] == self.positive).to_numpy(float)
        # A small penalty keeps coefficients finite where a column tells the outcome exactly or does not vary.
        penalty, beta = 0.01 * np.eye(x.shape[1]), np.zeros(x.shape[1])
        for _ in range(50):
            probability = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
            information = (x * (probability * (1 - probability))[:, None]).T @ x + penalty
            step = np.linalg.solve(information, x.T @ (y - probability) - penalty @ beta)
            beta = beta + step
            if np.abs(step).max() < 1e-10:
                break
        error = 1.96 * np.sqrt(np.diag(np.linalg.inv(information)))
        return beta - error, beta + error
