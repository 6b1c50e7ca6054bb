"""Conformance checks measure the k, l and t that a defense guarantees, and say what they do not test."""

import pandas as pd
import pytest
from run_tools import invoke

from defenses import Guarantee, Microdata
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from metrics.columns.domains import CategoricalDomain
from scenarios.checks.conformance.defense_checks import check_guarantee, check_guarantees, untested_guarantees
from scenarios.checks.conformance.suite import checks


class RawWithCloseness(MicrodataDefense):
    """Releases the records as they are."""

    def guarantee(self, records):
        return Guarantee(t=0.01)

    def apply(self, records, rng):
        return rowwise_release(released_frame(records), channel=None)


def records(illnesses, *, ordered=False):
    """Records of one class, with these illnesses."""
    return Microdata(
        pd.DataFrame({"city": ["Nara"] * len(illnesses), "illness": list(illnesses)}),
        quasi_identifiers=("city",),
        sensitive=("illness",),
        domains={"illness": CategoricalDomain(("a", "b", "c"), ordered=ordered)},
    )


SKEWED = records("a" * 98 + "bc")


def test_closeness_is_measured():
    run = dict(checks(RawWithCloseness))["meets its k, l and t on 20 tables"]
    with pytest.raises(AssertionError, match=r"t = 0\.01 is guaranteed and 0\.\d+ measured in 'illness' \(equal"):
        run()


def test_the_form_of_diversity_that_the_statement_names_is_measured():
    check_guarantee(Guarantee(l=3, statement="distinct 3-diversity"), SKEWED, SKEWED.frame)
    check_guarantee(Guarantee(l=3), SKEWED, SKEWED.frame)
    with pytest.raises(AssertionError, match=r"l = 3 is guaranteed and 1\.1\d* measured in 'illness' \(entropy\)"):
        check_guarantee(Guarantee(l=3, statement="entropy l-diversity"), SKEWED, SKEWED.frame)
    with pytest.raises(AssertionError, match=r"l = 2 is guaranteed and 1 measured in 'illness' \(recursive, c = 3\)"):
        check_guarantee(Guarantee(l=2, statement="recursive (3, 2)-diversity"), SKEWED, SKEWED.frame)
    check_guarantee(Guarantee(l=2, statement="recursive (50, 2)-diversity"), SKEWED, SKEWED.frame)
    with pytest.raises(AssertionError, match="must name c"):
        check_guarantee(Guarantee(l=2, statement="recursive diversity"), SKEWED, SKEWED.frame)


def test_a_limit_that_is_met_exactly_is_met():
    even = records("abc" * 5)
    check_guarantee(Guarantee(l=3, statement="entropy 3-diversity"), even, even.frame)


def test_ordered_distances_are_measured_if_the_statement_names_them():
    """Classes of one illness each, the first two of three: ordered distances between them are half of equal ones."""
    table = records("ab", ordered=True)
    released = table.frame.assign(city=["Nara", "Kyōto"])
    check_guarantee(Guarantee(t=0.25, statement="0.25-closeness with ordered distances"), table, released)
    with pytest.raises(AssertionError, match=r"0\.25 measured in 'illness' \(ordered"):
        check_guarantee(Guarantee(t=0.2, statement="0.2-closeness with ordered distances"), table, released)
    with pytest.raises(AssertionError, match=r"0\.5 measured in 'illness' \(equal"):
        check_guarantee(Guarantee(t=0.25, statement="0.25-closeness with equal distances"), table, released)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "parameters",
    [{"l": 2, "diversity": "entropy"}, {"l": 2, "diversity": "recursive", "c": 2.0}, {"t": 0.3}],
    ids=["entropy", "recursive", "closeness"],
)
def test_mondrian_keeps_its_guarantees(parameters):
    from defenses import Mondrian
    from scenarios.checks.conformance.suite import class_of

    check_guarantees(class_of(Mondrian(k=2, **parameters)))


@pytest.mark.thorough
def test_the_command_names_what_it_does_not_test():
    from defenses import Mondrian

    output = invoke("check", "RetentionReplacement epsilon=1").output
    assert "its epsilon is not tested here; tokumei audit RetentionReplacement tests it" in output
    assert untested_guarantees(Mondrian) == []
