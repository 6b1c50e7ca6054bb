"""A classifier whose probabilities are a column of its input, for attacks on models."""

import numpy as np
import pandas as pd


class Fixed:
    """The probability of "yes" is the column x."""

    target, classes = "y", ("no", "yes")

    def predict_proba(self, people):
        yes = people["x"].to_numpy(dtype=float)
        return np.column_stack([1 - yes, yes])


PEOPLE = pd.DataFrame({"x": [0.0, 0.25, 1.0], "y": ["no", "yes", "no"]})
