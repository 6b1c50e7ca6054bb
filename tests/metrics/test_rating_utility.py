"""The utility of ratings: shares of items, means and pairs."""

import pytest
from rating_tools import DOMAINS, TABLE

from metrics.rating_utility import RatingUtility


def test_utility_by_hand():
    utility = RatingUtility(TABLE, DOMAINS, "person", "item", "rating", "day")
    assert utility.score(TABLE)["utility_items"] == pytest.approx(1)
    assert utility.score(TABLE)["utility_item_means"] is None
    assert utility.score(TABLE)["utility_pairs"] == pytest.approx(1)
    assert set(utility.score(TABLE.iloc[:0]).values()) == {0.0}
    constant = utility.score(TABLE.assign(item="x"))
    assert constant["utility_items"] == pytest.approx(0)
    # Shares are 2, 2, 1, 1 sixths. With one y replaced by x they are 3, 1, 1, 1 sixths: a total variation of 1/6.
    # That of a constant is 4/6.
    moved = utility.score(TABLE.assign(item=["x", "x", "x", "y", "u|v", "z"]))
    assert moved["utility_items"] == pytest.approx(1 - 1 / 4)
    gone = utility.score(TABLE.drop(columns=["item", "rating", "person"]))
    assert gone["utility_items"] == gone["utility_ratings"] == gone["utility_pairs"] == 0
    with pytest.raises(ValueError, match="no rating"):
        RatingUtility(TABLE.iloc[:0], DOMAINS, "person", "item", "rating", "day")
    with pytest.raises(ValueError, match="numeric"):
        RatingUtility(TABLE, {"rating": DOMAINS["rating"]}, "person", "item", "rating", "day")
