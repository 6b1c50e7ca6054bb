"""The order of categories in which a tree splits them."""

from itertools import combinations

import numpy as np

from defenses.synthetic.mixed_column import category_order


def test_one_response_orders_by_means_and_categories_without_records_come_last():
    codes = np.array([0, 0, 1, 1, 3, 3, 3])
    response = np.array([5.0, 5, 1, 2, 3, 3, 3])[:, None]
    rank = category_order(codes, 5, response).tolist()
    assert rank in ([2, 0, 3, 1, 4], [0, 2, 3, 1, 4])


def test_the_best_split_into_two_sets_is_a_cut_of_the_order():
    """For two classes, against all 2^6 splits of seven categories (Breiman et al., theorem 4.5)."""
    rng = np.random.default_rng(0)
    codes = rng.integers(7, size=300)
    classes = (rng.random(300) < rng.random(7)[codes]).astype(int)
    rank = category_order(codes, 7, np.eye(2)[classes])

    def impurity(left):
        parts = [classes[left], classes[~left]]
        return sum(part.size * part.mean() * (1 - part.mean()) for part in parts if part.size)

    every = min(impurity(np.isin(codes, chosen)) for size in range(1, 4) for chosen in combinations(range(7), size))
    cuts = min(impurity(rank[codes] < cut) for cut in range(1, 7))
    assert cuts == every
