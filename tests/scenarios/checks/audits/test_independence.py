"""A declaration that records are randomized independently is tested before anything relies on it.

A true declaration fails with probability at most 1e-6 for each table (`FALSE_ALARM`). Seeds are fixed. The conformance
suite passes the exported defenses that declare it.
"""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from defenses import Guarantee, MicrodataDefense
from defenses.base.columns import category_cells
from defenses.base.defense import released_frame, rowwise_release
from scenarios.checks.audits.canaries import canaries
from scenarios.checks.audits.subjects import subject
from scenarios.checks.audits.tables import _p_value, check_declaration
from scenarios.checks.conformance.suite import checks
from scenarios.commands.cli import cli

TITLE = "randomizes records independently, as it declares"


class RareInClear(MicrodataDefense):
    """Randomized response with epsilon 2, but a category that one record alone holds is released as it is."""

    randomizes_records_independently = True

    def guarantee(self, records):
        return Guarantee(epsilon=2.0, statement="local, one record replaced by any other")

    def apply(self, records, rng):
        frame = released_frame(records)
        for name in frame.columns:
            domain = records.domains[name]
            codes = np.asarray(domain.codes(records.frame[name]))
            truths = rng.random(len(codes)) < 1 / (1 + (domain.size - 1) * np.exp(-2 / frame.shape[1]))
            kept = truths | self.is_kept(codes)
            lies = (codes + rng.integers(1, domain.size, len(codes))) % domain.size
            cells = np.asarray(category_cells(domain), dtype=object)
            frame[name] = pd.Series(cells[np.where(kept, codes, lies)], dtype=object)
        return rowwise_release(frame, channel=None)

    def is_kept(self, codes):
        return np.bincount(codes)[codes] == 1


class Independent(RareInClear):
    """The same without the leak."""

    def is_kept(self, codes):
        return np.zeros(codes.size, dtype=bool)


class LeavesRowsOut(Independent):
    """Releases no row of some records."""

    def apply(self, records, rng):
        return super().apply(records, rng).take(np.flatnonzero(rng.random(len(records)) < 0.9))


@pytest.mark.thorough
@pytest.mark.parametrize("made", [subject, canaries])
def test_audits_refuse_a_false_declaration(made):
    with pytest.raises(ValueError, match="RareInClear releases column 'answer' of a record otherwise") as error:
        made(RareInClear())
    assert str(error.value).endswith("set randomizes_records_independently = False")


@pytest.mark.thorough
def test_the_command_says_in_one_line_what_would_be_right():
    result = CliRunner().invoke(cli, ["audit", f"{__name__}:RareInClear"])
    assert result.exit_code == 2
    assert "set randomizes_records_independently = False" in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.thorough
def test_the_conformance_suite_finds_a_false_declaration():
    with pytest.raises(AssertionError, match="RareInClear releases column 'age' of a record otherwise"):
        dict(checks(RareInClear))[TITLE]()
    dict(checks(Independent))[TITLE]()


@pytest.mark.thorough
def test_one_row_a_record_is_part_of_the_declaration():
    with pytest.raises(ValueError, match="LeavesRowsOut does not release one row a record"):
        check_declaration(LeavesRowsOut())


@pytest.mark.thorough
@pytest.mark.parametrize("fractions", [False, True], ids=["categories", "fractions"])
def test_false_alarms_are_as_rare_as_stated(fractions):
    """200 tests of equal distributions at 10 %: 20 alarms expected at most; 3 standard deviations more are 32."""
    rng = np.random.default_rng(0)
    drawn = rng.random((200, 300)) if fractions else rng.binomial(4, 0.3, (200, 300))
    alarms = sum(_p_value(cells[:200], cells[200:]) < 0.1 for cells in drawn)
    assert alarms <= 32


@pytest.mark.parametrize("fractions", [False, True], ids=["categories", "fractions"])
def test_other_distributions_are_found(fractions):
    rng = np.random.default_rng(0)
    samples = [rng.random(2000), rng.random(200) ** 3]
    if not fractions:
        samples = [sample.round().astype(int) for sample in samples]
    assert _p_value(*samples) < 1e-9
