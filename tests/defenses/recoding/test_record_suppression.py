"""Record suppression."""

from __future__ import annotations

import numpy as np
import pytest
from defense_tools import apply, table

from defenses import GlobalRecoding, Pipeline, RecordSuppression
from metrics import k_anonymity
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def test_record_suppression():
    records = table(a=[1, 1, 2, 2, 2, np.nan, np.nan], b=list("xxyyzww"))
    release = apply(RecordSuppression(k=2), records)
    assert release.origin.tolist() == [0, 1, 2, 3, 5, 6]
    assert release.frame["b"].tolist() == list("xxyyww")
    assert k_anonymity(release.frame, ["a", "b"]) == 2 == RecordSuppression(k=2).guarantee(records).k
    assert apply(RecordSuppression(k=3, columns=["a"]), records).origin.tolist() == [2, 3, 4]
    assert RecordSuppression(k=3, columns=["a"]).guarantee(records).k is None
    assert apply(RecordSuppression(k=7), records).frame.empty
    with pytest.raises(ValueError, match="k = 8 for n = 7"):
        apply(RecordSuppression(k=8), records)
    for k in (0, -1, 1.5, np.nan, True):
        with pytest.raises(ValueError, match="k must be"):
            RecordSuppression(k=k)


def test_recoding_then_suppression_leaves_large_classes():
    records = people(200, generator(0, "people"))
    steps = [GlobalRecoding(levels={"age": 2, "income": 2}), RecordSuppression(k=4)]
    release = apply(Pipeline(steps=steps), records)
    assert 0 < len(release.frame) < 200
    assert k_anonymity(release.frame, records.quasi_identifiers) >= 4
    truth = records.frame["grade"].to_numpy()[release.origin]
    assert (release.frame["grade"] == truth).all()
