"""Encoding of records as features and labels."""

import numpy as np
import pytest

from defenses import Microdata
from defenses.federated import (
    Encoding,
)
from metrics import NumericDomain
from scenarios.running.methods.invented_people import people


def test_records_survive_their_encoding():
    records = people(80, np.random.default_rng(2), missing=True)
    encoding = Encoding.of(records)
    features, labels = encoding.features(records.frame), encoding.labels(records.frame)
    assert features.min() >= 0
    assert features.max() <= 1
    decoded = encoding.decode(features, labels)
    for name in ("city", "grade", "illness"):
        assert [value if isinstance(value, str) else None for value in records.frame[name]] == decoded[name].tolist()
    for name in ("age", "income"):
        np.testing.assert_allclose(decoded[name].astype(float), records.frame[name].astype(float), rtol=1e-9)
    np.testing.assert_array_equal(encoding.codes(records.frame), encoding.codes(decoded))


def test_the_encoding_reads_no_record():
    records = people(30, np.random.default_rng(3))
    assert Encoding.of(records) == Encoding.of(records.take([0]))
    bare = Microdata(records.frame[["age", "illness"]], sensitive=("illness",), domains={"age": NumericDomain(0, 100)})
    with pytest.raises(ValueError, match="domain of column 'illness' is read from the records; declare it"):
        Encoding.of(bare)
