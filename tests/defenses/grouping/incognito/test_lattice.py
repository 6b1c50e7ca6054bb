from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from defenses.base.columns import code_values
from defenses.base.hierarchy import TableHierarchy
from defenses.grouping.incognito.lattice import Lattice, build_lattice, leveled_column


def lattice_of(columns: int, values: int, sensitive_values: int, rows: int = 200) -> tuple[pd.DataFrame, Lattice]:
    """A random table and its lattice: each value, its group of ten, everything."""
    rng = np.random.default_rng(columns)
    names = [f"c{index}" for index in range(columns)]
    tree = TableHierarchy([[str(value), f"g{value // 10}", "*"] for value in range(values)])
    frame = pd.DataFrame({name: rng.integers(0, values, rows).astype(str) for name in names})
    frame = pd.concat([frame, frame.sample(rows // 2, random_state=0)], ignore_index=True)
    codes = rng.integers(0, sensitive_values, len(frame))
    leveled = [leveled_column(name, code_values(frame[name]), tree) for name in names]
    ones, rows = np.ones(len(frame), dtype=int), np.arange(len(frame) + 1)
    histogram = csr_array((ones, codes, rows), shape=(len(frame), sensitive_values))
    return frame.assign(s=codes), build_lattice(leveled, ones, [histogram])[0]


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("columns", "values", "sensitive_values"),
    [(1, 25, 2), (3, 25, 3), (3, 60, 40), (12, 100, 2)],
    ids=["one column", "few values", "many sensitive values", "keys of more than 64 bits"],
)
def test_every_node_has_the_classes_of_the_generalized_table(columns: int, values: int, sensitive_values: int) -> None:
    frame, lattice = lattice_of(columns, values, sensitive_values)
    nodes = list(product(range(3), repeat=columns)) if columns < 10 else [(0,) * 12, (0, 1) * 6, (2, 1, 2, 0) * 3]
    # A class counts its sensitive values; nodes follow in random order, so that some are rolled up from a cached one.
    for index in np.random.default_rng(0).permutation(len(nodes)):
        node = nodes[index]
        cells = {
            name: frame[name] if level == 0 else frame[name].astype(int) // 10 if level == 1 else frame["s"] * 0
            for name, level in zip(frame.columns[:-1], node, strict=True)
        }
        groups = pd.DataFrame(cells).groupby(list(cells)).ngroup().to_numpy()
        expected = np.zeros((groups.max() + 1, sensitive_values), dtype=int)
        np.add.at(expected, (groups, frame["s"].to_numpy()), 1)
        classes = lattice.frequency_set(node)
        histogram = classes.histograms[0]
        counts = histogram if isinstance(histogram, np.ndarray) else histogram.toarray()
        assert sorted(counts.tolist()) == sorted(expected.tolist())
        assert classes.sizes.tolist() == counts.sum(axis=1).tolist()
        assert np.unique(lattice.classes_of(node)[0][classes.members]).size == classes.sizes.size
