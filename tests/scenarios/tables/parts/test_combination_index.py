"""The index finds each combination, however its keys are looked up, and no other."""

import numpy as np
import pytest

from scenarios.tables.parts.combination_index import CombinationIndex


@pytest.mark.parametrize(
    ("sizes", "way"),
    [((3, 5), "_table"), ((1 << 20, 1 << 20), "_hashed"), ((1 << 30,) * 5, "_numberings"), ((1, 1), "_table")],
)
def test_each_combination_is_found(sizes, way):
    rng = np.random.default_rng(1)
    rows = np.unique(np.stack([rng.integers(0, size, 2000) for size in sizes], axis=1), axis=0)
    rng.shuffle(rows)
    names = [f"c{place}" for place in range(len(sizes))]
    index = CombinationIndex({name: rows[:, place] for place, name in enumerate(names)})
    lookup = getattr(index, way)
    assert lookup is not None
    assert len(lookup) > 0
    drawn = rng.integers(0, len(rows), 5000)
    block = {name: rows[drawn, place].astype(np.int32) for place, name in enumerate(names)}
    np.testing.assert_array_equal(index.positions(block | {"other": np.zeros(5000)}), drawn)


@pytest.mark.parametrize("largest", [1 << 62, 5000])
def test_positions_are_those_of_equal_combinations(largest):
    rng = np.random.default_rng(1)
    rows = np.unique(rng.integers(0, 9, (60, 5)), axis=0)
    index = CombinationIndex({str(place): column for place, column in enumerate(rows.T)}, largest)
    assert bool(index._numberings) == (largest == 5000)
    asked = np.concatenate([rows, rng.integers(-1, 12, (3000, 5))])
    place = {tuple(row): position for position, row in enumerate(rows.tolist())}
    expected = [place.get(tuple(row), -1) for row in asked.tolist()]
    assert index.positions({str(place): column for place, column in enumerate(asked.T)}).tolist() == expected
