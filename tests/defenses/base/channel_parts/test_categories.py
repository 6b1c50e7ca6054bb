"""The channel parts of retained and of most frequent categories."""

import numpy as np
import pandas as pd
import pytest
from channel_tools import LEVEL, chi_square, one_column

from defenses.base.channel_parts import GroupMode, Retention
from defenses.base.microdata import Microdata
from defenses.pram.retention_defenses import RetentionReplacement
from metrics.columns.domains import CategoricalDomain, NumericDomain

AGE = NumericDomain(17, 90, True, (30, 45, 60))
JOB = CategoricalDomain(("admin.", "blue|collar", "[none]", "*", "tech"), ordered=True)


@pytest.mark.parametrize("domain", [JOB, NumericDomain(0, 50, True, (10, 20, 30, 40))], ids=["categories", "bins"])
def test_retention_has_the_published_law(domain):
    values = np.array(JOB.categories, dtype=object) if domain is JOB else np.array([5, 15, 25, 35, 45])
    column = pd.Series(np.repeat(values, 4000))
    records = Microdata(pd.DataFrame({"x": column}), quasi_identifiers=("x",), domains={"x": domain})
    release = RetentionReplacement(retention=0.45).apply(records, np.random.default_rng(8))
    cells = sorted(set(release.frame["x"]))
    probability = np.exp(one_column(release.channel.parts[0], cells, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-12)
    assert probability.max() == pytest.approx(0.45)
    for index, value in enumerate(values):
        seen = release.frame["x"][column == value].value_counts().reindex(cells, fill_value=0).to_numpy()
        assert chi_square(seen, 4000 * probability[:, index]) > LEVEL


def test_retention_with_a_missing_category():
    domain = CategoricalDomain(("a", "b"))
    table = one_column(Retention("x", domain, 0.5, 3), ["a", "b", None], ["a", None]).table()
    np.testing.assert_allclose(np.exp(table), [[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]])
    table = one_column(Retention("x", domain, 0.5, 2), ["a", None], ["a", None]).table()
    np.testing.assert_allclose(np.exp(table), [[0.5, 0], [0, 0]])


def test_retention_names_a_cell_that_is_no_category():
    with pytest.raises(ValueError, match=r"column 'job', row 1: the cell is not one of the 5 categories"):
        one_column(Retention("job", JOB, 0.5, 5), ["tech", "{admin.|tech}"], ["tech"])
    with pytest.raises(ValueError, match=r"column 'age', row 0: the cell is not one of the 4 bins"):
        one_column(Retention("age", AGE, 0.5, 4), ["20", "[17,30)"], [20])


def test_group_mode_sums_to_one():
    released = ["admin.", "blue\\|collar", "\\[none]", "\\*", "tech", None]
    probability = np.exp(one_column(GroupMode("job", JOB, 0.7), released, [*JOB.categories, None]).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1)
    np.testing.assert_allclose(np.diag(probability), 0.7)
