"""Blocking passes propose the candidates in the windows of their columns."""

import numpy as np
import pytest
from blocking_tools import RELEASES, learned

from attacks.linkage.blocks.blocking_pass import BlockingPass, _pairs, members, search_column

PEOPLE = 300


@pytest.fixture(scope="module", params=RELEASES)
def search(request):
    return {model.column.name: search_column(model) for model in learned(PEOPLE, request.param)}


def in_window(column, *, fine):
    """Whether each row's window holds each candidate, by positions or by groups."""
    runs, place = (column.fine, column.column.values) if fine else (column.coarse, column.group[column.column.values])
    table = np.zeros((column.column.codes.size, place.size), dtype=bool)
    for owner, low, high in zip(*runs, strict=True):
        table |= (column.column.codes == owner)[:, None] & ((place >= low) & (place < high))[None, :]
    return table


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("noise and replacement-names0", "suppressed cells and noise-names0")
@pytest.mark.parametrize("names", [("zip",), ("sex", "born"), ("occupation", "age", "income"), ("born", "zip")])
def test_a_pass_proposes_exactly_the_candidates_in_the_windows(search, names):
    columns = [search[name] for name in names]
    one = BlockingPass(columns, np.arange(PEOPLE))
    ranges, wide = one.ranges(np.arange(PEOPLE))
    row, position = members(ranges)
    proposed = np.zeros((PEOPLE, PEOPLE), dtype=int)
    np.add.at(proposed, (row, one.order[position]), 1)
    expected = in_window(columns[-1], fine=True)
    for column in columns[:-1]:
        expected &= in_window(column, fine=False)
    expected[wide] = False
    assert (proposed == expected).all()
    assert expected.any()
    assert (np.diff(row) >= 0).all()


@pytest.mark.thorough_beyond(1)
def test_groups_hold_the_windows(search):
    for column in search.values():
        assert (in_window(column, fine=False) | ~in_window(column, fine=True)).all()
        share = in_window(column, fine=True).mean(axis=1)
        assert column.share[column.column.codes] == pytest.approx(share)


def test_only_some_candidates_are_proposed(search):
    some = np.arange(0, PEOPLE, 7)
    one = BlockingPass([search["born"]], some)
    assert set(one.order.tolist()) == set(some.tolist())


def test_candidates_are_estimated_from_a_sample_of_the_people(search):
    columns, rows, everybody = [search["sex"], search["born"]], np.arange(PEOPLE), np.arange(PEOPLE)
    ranges, wide = BlockingPass(columns, everybody).ranges(rows)
    counted = np.bincount(members(ranges)[0], minlength=PEOPLE)
    pairs = _pairs(columns, rows, everybody, PEOPLE)
    assert pairs[~wide] == pytest.approx(counted[~wide])
    assert np.isinf(pairs[wide]).all()
    assert _pairs(columns, rows, everybody, 3 * PEOPLE) == pytest.approx(3 * pairs)
