"""Full-domain generalization."""

import numpy as np
import pytest
from defense_tools import JOB, apply, people

from defenses.recoding.global_recoding import GlobalRecoding
from metrics.columns.cells import read_cells


def test_global_recoding_by_column_and_by_one_level():
    records = people()
    one = apply(GlobalRecoding(levels={"age": 2}), records)
    assert set(one.frame["age"]) == {"[17,44]", "[45,90]"}
    assert one.channel.columns == {"age"}
    every = apply(GlobalRecoding(levels=3), records)
    assert set(every.frame["age"]) == {"*"}
    assert set(every.frame["job"]) == {"*"}
    assert every.channel.columns == {"age", "job"}
    first = apply(GlobalRecoding(levels=1), records)
    assert set(first.frame["job"]) == {"{admin.|tech}", "{blue\\|collar|\\[none]|\\*}"}
    for level in (0, 1, 2):
        cells = read_cells(apply(GlobalRecoding(levels=level), records).frame["job"], JOB)
        covered = cells.contains(records.frame["job"])
        assert covered[cells.codes, np.arange(len(records))].all()
    with pytest.raises(ValueError, match="column 'age' has levels 0 to 3, got 4"):
        apply(GlobalRecoding(levels={"age": 4}), records)
    with pytest.raises(ValueError, match="column 'smokes' has no hierarchy"):
        apply(GlobalRecoding(levels={"smokes": 1}), records)
    with pytest.raises(ValueError, match="column 'job', row 0: the hierarchy has no such value"):
        apply(GlobalRecoding(levels=1), people(job="new"))
