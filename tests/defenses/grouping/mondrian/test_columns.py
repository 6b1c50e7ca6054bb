"""Columns that are coded together have the codes of single ones."""

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata
from defenses.base.columns import code_column
from defenses.grouping.mondrian import columns
from defenses.grouping.mondrian.columns import code_columns, code_numbers, each_column

RNG = np.random.default_rng(2)
NUMBERS = {
    "distinct": RNG.normal(size=500),
    "tied": RNG.integers(-3, 4, 500).astype(float),
    "missing": np.where(RNG.random(500) < 0.3, np.nan, RNG.normal(size=500).round(1)),
    "all missing": np.full(4, np.nan),
    "zeros of both signs": np.array([0.0, -0.0, 1.0, -0.0]),
    "one": np.array([5.0]),
    "none": np.empty(0),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_codes_of_numbers_are_those_of_pandas(numbers):
    codes, distinct = code_numbers(numbers)
    expected, values = pd.factorize(numbers, sort=True, use_na_sentinel=True)
    assert codes.tolist() == np.where(expected < 0, len(values), expected).tolist()
    assert distinct.tolist() == values.tolist()
    assert not np.signbit(distinct[distinct == 0]).any()


@pytest.mark.parametrize("parallel", [1, 1 << 16])
def test_columns_are_coded_as_single_ones(monkeypatch, parallel):
    monkeypatch.setattr(columns, "_PARALLEL", parallel)
    table = pd.DataFrame({name: NUMBERS[name] for name in ("distinct", "tied", "missing")})
    table["text"] = RNG.choice([*"abc", None], 500)
    records = Microdata(table, quasi_identifiers=tuple(table))
    coded = code_columns(records, table)
    assert list(coded) == list(table)
    for name, column in coded.items():
        single = code_column(table[name], records.domain(name))
        assert column.codes.tolist() == single.codes.tolist()
        assert pd.Series(column.values).equals(pd.Series(single.values))
        assert column.missing == single.missing


def test_an_infinity_names_its_column_and_row():
    records = Microdata(pd.DataFrame({"age": [1.0, 2.0, 3.0]}), quasi_identifiers=("age",))
    domain = records.domain("age")
    broken = Microdata(pd.DataFrame({"age": [1.0, np.inf, 3.0]}), quasi_identifiers=("age",), domains={"age": domain})
    with pytest.raises(ValueError, match="column 'age', row 1"):
        code_columns(broken, ["age"])


def test_results_keep_the_order_of_the_columns():
    assert each_column(str, range(50), rows=1 << 20) == [str(number) for number in range(50)]
