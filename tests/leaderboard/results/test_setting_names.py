"""Names of settings: the whole name comes first, and numbers count by value."""

import re

import pytest

from leaderboard.results.setting_names import setting_named

BOTH = [("NearestNeighbour", {}), ("h_nn:NearestNeighbour", {})]


@pytest.mark.parametrize(
    ("text", "settings", "found"),
    [
        ("NearestNeighbour", BOTH, ("NearestNeighbour", "{}")),
        ("h_nn:NearestNeighbour", BOTH, ("h_nn:NearestNeighbour", "{}")),
        ("X  k=5", [("X", {"k": 5}), ("m:X", {"k": 5})], ("X", '{"k":5}')),
        ("X width=0.30", [("X", {"width": 0.3}), ("X", {"width": 0.5})], ("X", '{"width":0.3}')),
        ("X width=.3", [("m:X", {"width": 0.3}), ("X", {"width": 0.5})], ("m:X", '{"width":0.3}')),
        ("X k=1.0", [("X", {"k": 1}), ("X", {"k": 2})], ("X", '{"k":1}')),
        ("X e=1e-6", [("X", {"e": 1e-06}), ("X", {"e": 1e-05})], ("X", '{"e":1e-06}')),
        # Seeds that differ behind the sixth digit are two settings.
        ("X seed=1234567", [("X", {"seed": 1234567}), ("X", {"seed": 1234568})], ("X", '{"seed":1234567}')),
    ],
)
def test_a_name_means_the_setting_that_it_is_nearest_to(text, settings, found):
    assert setting_named(text, settings, "defense") == found


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("X", [("m:X", {}), ("n:X", {})], "'X' names several attacks; name one of m:X, n:X"),
        ("X", [("X", {"k": 2}), ("X", {"k": 3}), ("m:X", {})], "'X' names several attacks; name one of X k=2, X k=3"),
        ("X width=0.31", [("X", {"width": 0.3})], "there is no attack 'X width=0.31'; did you mean 'X width=0.3'?"),
        ("Xk2", [("Xk02", {})], "there is no attack 'Xk2'"),
        ("mondrian", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "'mondrian'; did you mean 'Mondrian'?"),
        ("", [(f"X{number}", {}) for number in range(9)], "''; there are X0, X1, X2, X3, X4 and 4 more"),
    ],
)
def test_what_names_several_or_none_is_refused(text, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        setting_named(text, settings, "attack")
