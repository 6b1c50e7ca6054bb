"""Classes that are measured in parts have the diversity of the whole table."""

import numpy as np
import pandas as pd
import pytest

import metrics as m
from metrics.diversity import ClassDiversity, sensitive_counts


@pytest.mark.parametrize("seed", range(5))
def test_parts_agree_with_the_measures_of_the_table(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 30, 400), "illness": rng.choice([*"aaaab", None], 400)})
    counts = sensitive_counts(frame, ["age"], "illness", None)
    worst = None
    for low, high in ((0, 11), (11, 12), (12, 30)):
        inside = (counts.groups >= low) & (counts.groups < high)
        groups, values, numbers = (part[inside] for part in (counts.groups, counts.values, counts.counts))
        measured = ClassDiversity.of_pairs(groups - low, values, numbers, counts.table)
        worst = measured if worst is None else worst.worst(measured)
    arguments = (frame, ["age"], "illness")
    assert worst.distinct == m.l_diversity(*arguments)
    assert np.exp(worst.entropy) == pytest.approx(m.entropy_l_diversity(*arguments), rel=1e-12)
    assert worst.alpha == m.alpha_anonymity(*arguments)
    assert worst.t_equal == pytest.approx(m.t_closeness_equal(*arguments), rel=1e-12)
    alone = frame.fillna("").groupby("age")["illness"].transform("nunique") == 1
    assert worst.one_value == alone.sum()
