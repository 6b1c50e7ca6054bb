"""Reports and the format of their parts: types, shapes, ranges, and selections of reports."""

import numpy as np
import pytest

from defenses.ldp import GeneralizedRandomizedResponse, ReportBatch
from defenses.ldp.report_batch import Part, numbers_to, packed


def test_parts_must_be_arrays_of_one_length():
    for parts in (
        {"value": np.zeros(2), "other": np.zeros(3)},
        {"value": [0, 1]},
        {"value": np.array(3)},
        {"value": np.zeros(2), "other": None},
        {},
    ):
        with pytest.raises(ValueError, match="arrays of one length, one entry a person"):
            ReportBatch(GeneralizedRandomizedResponse(), parts)


def test_reports_are_counted_measured_and_taken_in_any_order():
    protocol = GeneralizedRandomizedResponse(d=300)
    batch = ReportBatch(protocol, {"a": np.arange(5, dtype=np.uint16), "b": np.arange(10.0).reshape(5, 2)})
    assert len(batch) == 5
    assert batch.nbytes == 5 * 2 + 10 * 8
    taken = batch.take([4, 0, 4])
    assert taken.protocol is protocol
    assert taken.parts["a"].tolist() == [4, 0, 4]
    assert taken.parts["b"].tolist() == [[8, 9], [0, 1], [8, 9]]
    assert batch.take(np.array([True, False, False, False, True])).parts["a"].tolist() == [0, 4]
    assert len(batch.take(np.array([], dtype=int))) == 0
    with pytest.raises(IndexError):
        batch.take([5])


def test_a_batch_does_not_print_its_reports():
    text = repr(ReportBatch(GeneralizedRandomizedResponse(d=9), {"value": np.array([7, 7, 7])}))
    assert "GeneralizedRandomizedResponse" in text
    assert "7" not in text


def test_numbers_have_the_smallest_type():
    assert [numbers_to(top).dtype for top in (1, 255, 256, 2**16, 2**32)] == [
        np.dtype(kind) for kind in ("u1", "u1", "u2", "u4", "u8")
    ]
    assert [packed(width).columns for width in (1, 8, 9, 1024)] == [1, 1, 2, 128]


@pytest.mark.parametrize(
    ("array", "fits"),
    [
        (np.array([0, 4], dtype=np.uint8), True),
        (np.array([], dtype=np.uint8), True),
        (np.array([0, 5], dtype=np.uint8), False),
        (np.array([0, 4], dtype=np.int64), False),
        (np.array([0.0, np.nan]), False),
        (np.zeros((2, 1), dtype=np.uint8), False),
        (np.array(3, dtype=np.uint8), True),
        ([0, 4], False),
        (None, False),
    ],
)
def test_numbers_fit_by_type_shape_and_range(array, fits):
    # An array without dimensions has a part's shape; a batch refuses it.
    assert numbers_to(4).fits(array) == fits


def test_rows_fit_by_their_width():
    part = Part(np.int8, columns=2, top=1)
    assert part.fits(np.array([[0, 1], [1, 0]], dtype=np.int8))
    assert not part.fits(np.array([[0, -1]], dtype=np.int8))
    assert not part.fits(np.zeros((2, 3), dtype=np.int8))
    assert not part.fits(np.zeros(2, dtype=np.int8))
    assert packed(9).fits(np.full((3, 2), 255, dtype=np.uint8))


def test_formats_are_described():
    assert str(numbers_to(4)) == "uint8, shape (n,), within 0..4"
    assert str(packed(9)) == "uint8, shape (n, 2)"
