"""Fidelity of marginals and associations, on examples by hand."""

import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain
from metrics.fidelity import association, marginal_fidelity
from metrics.profile import original_profile, profile

COLOR = CategoricalDomain(("red", "blue"))
SIZE = NumericDomain(0, 9, integer=True, cuts=(5,))


def test_marginals_by_hand():
    original = original_profile(pd.DataFrame({"color": ["red", "red", "blue", "blue"]}), {"color": COLOR})
    released = profile(pd.DataFrame({"color": ["red", "red", "red", "{red|blue}"]}), {"color": COLOR})
    # Shares .875 and .125 against .5 and .5: a total variation distance of .375.
    assert marginal_fidelity(original, released) == pytest.approx(0.625)


def test_association_by_hand():
    domains = {"color": COLOR, "size": SIZE}
    same = original_profile(pd.DataFrame({"color": ["red"] * 50 + ["blue"] * 50, "size": [1] * 50 + [7] * 50}), domains)
    # phi^2 = 1 less 1/99; levels 2 - 1/99 on both sides: V = sqrt((98/99) / (98/99)) = 1.
    assert association(same) == pytest.approx([1.0])
    apart = original_profile(pd.DataFrame({"color": ["red", "blue"] * 50, "size": [1, 1, 7, 7] * 25}), domains)
    assert association(apart) == pytest.approx([0.0])
