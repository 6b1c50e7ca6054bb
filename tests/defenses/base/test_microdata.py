"""Records and the roles of their columns: domains, copies, and refusals."""

import pickle
from dataclasses import replace

import pandas as pd
import pytest

from defenses import Microdata
from metrics import CategoricalDomain, NumericDomain

FRAME = pd.DataFrame({"name": ["Ann", "Bob", "Cid"], "age": [34, 52, 41], "ill": ["flu", None, "flu"]})
DOMAINS = {"age": NumericDomain(0, 99, integer=True)}


def records(**changes):
    roles = {"identifiers": ("name",), "quasi_identifiers": ["age"], "sensitive": ("ill",), "domains": DOMAINS}
    return Microdata(FRAME, **{**roles, **changes})


def test_identifiers_are_not_released():
    table = records()
    assert table.released_columns == ("age", "ill")
    assert table.quasi_identifiers == ("age",)
    assert len(table) == 3
    assert repr(table) == "Microdata(3 rows, 3 columns)"
    table.check_released("sensitive", "ill")
    with pytest.raises(ValueError, match="sensitive: there is no released column 'name'; released are age, ill"):
        table.check_released("sensitive", "name")


def test_undeclared_domains_are_inferred_and_not_public():
    table = records()
    assert table.domain("age") == DOMAINS["age"]
    assert table.domain("ill").categories == ("flu",)
    assert table.domain("ill").inferred
    assert table.not_public(["age", "ill"]) == ("ill",)
    inferred = replace(table, domains={"age": replace(DOMAINS["age"], inferred=True)})
    assert inferred.not_public(["age"]) == ("age",)


def test_rows_are_taken_and_numbered_anew():
    table = records().take([2, 0])
    assert table.frame["name"].tolist() == ["Cid", "Ann"]
    assert table.frame.index.tolist() == [0, 1]
    assert (table.identifiers, dict(table.domains)) == (("name",), DOMAINS)
    assert len(records().take([])) == 0
    assert records().with_frame(FRAME.iloc[:1]).sensitive == ("ill",)


def test_domains_cannot_change_and_records_pickle():
    table, declared = records(), dict(DOMAINS)
    with pytest.raises(TypeError):
        table.domains["ill"] = CategoricalDomain(("flu",))
    copied = Microdata(FRAME, domains=declared)
    declared.clear()
    assert dict(copied.domains) == DOMAINS
    back = pickle.loads(pickle.dumps(replace(table, person="name", generalized=frozenset({"age"}))))
    assert back.frame.equals(FRAME)
    assert (back.person, back.generalized, dict(back.domains)) == ("name", frozenset({"age"}), DOMAINS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"identifiers": "name"}, "identifiers must be a list of column names, got the text 'name'"),
        ({"sensitive": ("age",)}, "column 'age' has two roles"),
        ({"sensitive": ("ill", "ill")}, "column 'ill' has two roles"),
        ({"sensitive": ("salary",)}, "'salary'"),
        ({"domains": {"salary": NumericDomain(0, 1)}}, "'salary'"),
        ({"person": "who"}, "'who'"),
    ],
)
def test_bad_roles_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        records(**changes)


def test_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="column 'age' appears twice"):
        Microdata(FRAME.rename(columns={"ill": "age"}))
