"""Limits of exact inference: messages name columns, numbers of values and what would fit."""

import pandas as pd
import pytest

from defenses.base.microdata import Microdata
from defenses.synthetic.graphical.clique_tree import check_pairs, check_workload
from metrics.columns.domains import CategoricalDomain


def table(*sizes):
    names = [f"c{number}" for number in range(len(sizes))]
    domains = {name: CategoricalDomain(tuple(map(str, range(size)))) for name, size in zip(names, sizes, strict=True)}
    return Microdata(pd.DataFrame({name: ["0"] for name in names}), domains=domains)


def test_the_smallest_partner_counts():
    check_pairs(table(10, 90, 50), 900)
    with pytest.raises(ValueError, match=r"'c1' has 90 values, and 900 combinations .* 'c0'; .* at most 80 values"):
        check_pairs(table(10, 90, 50), 800)
    with pytest.raises(ValueError, match="'c0' has 90 values; exact inference takes at most 80"):
        check_pairs(table(90), 80)
    with pytest.raises(ValueError, match="make column 'c1' coarser, too"):
        check_pairs(table(90, 90), 80)


def test_every_set_of_the_workload_counts():
    check_workload(table(10, 10), [["c0", "c1"]], 100)
    with pytest.raises(
        ValueError, match=r"columns 'c0' \(10 values\), 'c1' \(11 values\) have 110 .*; 10 values in each"
    ):
        check_workload(table(10, 11), [["c0"], ["c0", "c1"]], 100)
