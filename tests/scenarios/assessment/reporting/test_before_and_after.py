"""Each measure of classes stands beside itself, before and after a release."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from scenarios.assessment.reporting.release_report import _before_and_after
from scenarios.tables.released_classes import CodedCells, ReleasedTable
from scenarios.tables.risk import risk_report
from scenarios.tables.roles import Roles


def risks(frame):
    columns = {name: CodedCells.of_values(frame[name]) for name in frame}
    return risk_report(ReleasedTable(Path(), columns, ("age", "zip"), ("ill",), (), Roles(), {}))


def test_a_measure_that_only_the_release_has_moves_no_other():
    people = pd.DataFrame({"age": list("aabbcc"), "zip": list("xxyyzz"), "ill": list("uvuvuw")})
    before, after = risks(people), risks(people.assign(zip=["*", "*", *"yyzz"], ill=[*"uvuv", None, "u"]))
    content = SimpleNamespace(before=before, after=after, costs={}, counts=True)
    (table, _) = _before_and_after(content).tables
    shown = {name: values for name, *values in table.rows}
    assert shown["k, * as any value: fewest records that agree with a record, itself included"] == ["–", "2"]
    assert shown["l, distinct: fewest values of ill in a class"] == ["2", "2"]
    assert shown["alpha: largest share of a value of ill in a class"] == [".500", ".500"]
    assert shown["k: smallest class"] == ["2", "2"]
    assert "* counts as a value of its own" in table.note
    assert "ill: an empty cell counts as a value of its own" in table.note
