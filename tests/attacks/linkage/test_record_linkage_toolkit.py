"""The package recordlinkage as an attack: names with typing errors, pairs that are compared, nothing to compare."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import small_release
from name_tools import febrl_release, mistyped_release, right

from attacks import NotApplicable, RecordLinkageToolkit
from attacks.linkage.record_linkage_toolkit import _indexed
from scenarios.tables.seeds import generator


def test_names_are_linked_despite_typing_errors():
    """A quarter of all texts is mistyped; equal texts alone find half of the people."""
    assert right(RecordLinkageToolkit(), *mistyped_release(100, generator(1)), generator(0)) >= 0.7


@pytest.mark.thorough
def test_a_part_of_febrl_is_linked():
    assert right(RecordLinkageToolkit(), *febrl_release((), 300, generator(1)), generator(0)) >= 0.99


def test_columns_of_fewest_agreeing_pairs_are_compared_first():
    released = pd.DataFrame({"few": list("abcd"), "many": ["x"] * 4})
    candidates = pd.DataFrame({"few": list("abcde"), "many": ["x"] * 5})
    # Four pairs agree in the one column and twenty in the other, which bring five or more pairs a row.
    assert len(_indexed(released, candidates)) == 20
    assert _indexed(released[["few"]], candidates).tolist() == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_answers_are_one_to_one_where_pairs_are_linked():
    release, knowledge, order = mistyped_release(60, generator(2), share=0.05)
    claims = RecordLinkageToolkit().run(release, knowledge, generator(0))
    linked = claims.score > 100
    assert linked.sum() > 30
    assert np.unique(claims.answer[linked]).size == np.unique(claims.target[linked]).size == linked.sum()
    assert (claims.answer[linked] == order[claims.target[linked]]).mean() > 0.9
    assert claims.confidence is None


@pytest.mark.parametrize(
    ("released", "reason"),
    [
        ({"age": [], "job": []}, "no row"),
        ({"age": ["*"], "job": ["*"]}, "no released value equals"),
        ({"age": ["[0,50]"], "job": ["{a|b}"]}, "no released value equals"),
    ],
)
def test_what_it_cannot_compare_is_named(released, reason):
    with pytest.raises(NotApplicable, match=reason):
        RecordLinkageToolkit().run(*small_release(released), generator(0))
