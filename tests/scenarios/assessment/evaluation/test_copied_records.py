"""Unique records that stand verbatim in a release are counted without anybody outside the table."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import few_attacks, finished, released_by, setting_of, write_people
from run_tools import invoke

from defenses import Identity, IndependentMarginals, Mondrian
from scenarios.assessment.evaluation.row_origin import CopiedRecords, copied_records
from scenarios.assessment.reporting.findings import ABOVE, EVERYTHING, QUASI, copy_findings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    write_people(folder)
    return folder


@pytest.fixture(scope="module")
def setting(folder):
    return setting_of(folder, control=False)


def counted(setting, frame):
    return [(one.unique, one.copied) for one in copied_records(setting, finished(setting, frame))]


def by_hand(records, frame, columns):
    """Unique records, and those among the rows, by texts of whole rows."""
    texts, rows = (["|".join(map(str, row)) for row in one[columns].to_numpy()] for one in (records, frame))
    unique = [text for text in texts if texts.count(text) == 1]
    return len(unique), sum(text in set(rows) for text in unique)


def test_counts_are_those_of_whole_rows(setting):
    records = released_by(setting, Identity())
    mixed = records.sample(frac=1, random_state=1).reset_index(drop=True)
    mixed["city"] = mixed["city"].where(mixed.index < 60, np.roll(mixed["city"], 7))
    assert counted(setting, mixed) == [
        by_hand(records, mixed, list(records.columns)),
        by_hand(records, mixed, list(setting.records.quasi_identifiers)),
    ]


@pytest.mark.parametrize(
    ("change", "copied"),
    [(lambda rows: rows, 1.0), (lambda rows: rows.assign(income="*"), 0.0), (lambda rows: rows.iloc[:60], 0.5)],
    ids=["copies", "one column suppressed", "half of the rows"],
)
def test_all_or_nothing(setting, change, copied):
    everything, _ = copied_records(setting, finished(setting, change(released_by(setting, Identity()))))
    assert (everything.share, everything.excess) == (copied, copied)
    assert everything.about == "all 5 shared columns"


def test_records_that_others_have_too_are_not_unique(folder, tmp_path):
    """Each person has two equal rows: unique as people, although no row is; a second owner makes them common."""
    people = pd.read_csv(folder / "people.csv", dtype=str).head(20)
    twice = pd.concat([people, people, people.head(3).assign(name="somebody else")])
    twice.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text('person = "name"\n' + (folder / "roles.toml").read_text())
    setting = setting_of(tmp_path, control=False)
    everything, _ = copied_records(setting, finished(setting, released_by(setting, Identity())))
    assert (everything.unique, everything.copied) == (17, 17)


def test_few_columns_agree_by_chance_and_are_no_finding(setting):
    """Ages and grades of 120 people: half of them already have most of the unique records of the other half."""
    frame = released_by(setting, IndependentMarginals())
    quasi = copied_records(setting, finished(setting, frame[["age", "grade"]]))[0]
    assert quasi.chance > 0
    assert quasi.excess < quasi.share


def test_copies_above_the_threshold_are_findings_by_what_the_attacker_knows():
    class Evaluated:
        copies = (
            CopiedRecords("all 9 shared columns", 1000, 155, 0.01),
            CopiedRecords("the quasi-identifiers", 1000, 400, 0.5),
            CopiedRecords("the quasi-identifiers", 29, 29, 0.0),
        )

    [found] = copy_findings(Evaluated, 0.09)
    assert (found.status, found.by_knowledge) == (ABOVE, ((EVERYTHING, found.value),))
    assert found.value == pytest.approx((0.155 - 0.01) / 0.99)
    assert "155 of 1,000 people with a unique record (15.5%)" in found.meaning
    Evaluated.copies = (CopiedRecords("the quasi-identifiers", 100, 60, 0.1),)
    assert [one.by_knowledge[0][0] for one in copy_findings(Evaluated, 0.09)] == [QUASI]
    assert CopiedRecords("few values", 3, 3, 1.0).excess == CopiedRecords("nobody", 0, 0, 0.0).share == 0


@pytest.mark.thorough
def test_a_report_without_control_people_shows_copies_among_synthetic_rows(folder, setting, monkeypatch):
    """A quarter of the rows are copies in an order of their own, the others mixtures: nothing else sees them."""
    few_attacks(monkeypatch)
    # The name of a file in a long folder takes two lines, and so do the words beside it.
    monkeypatch.chdir(folder)
    rng = np.random.default_rng(0)
    records = released_by(setting, Identity())
    mixed = pd.concat(
        [records.iloc[:30], pd.DataFrame({name: rng.permutation(records[name])[:80] for name in records})]
    )
    mixed.sample(frac=1, random_state=2).to_csv("synthetic.csv", index=False)
    files = ("people.csv", "synthetic.csv", "--roles", "roles.toml")
    said = invoke("report", *files, "-o", "copies.html", "--force").output
    assert "unique records that stand verbatim" in said
    page = (folder / "copies.html").read_text()
    assert "Unique records in the release" in page
    assert "30 of 120 people with a unique record (25.0%)" in page
    shown = invoke("rank", *files, "--db", "ranks.db", "-j", 1).output
    assert "30 of 120 people with a unique record (25.0%)" in " ".join(shown.split())


def test_classes_of_five_hold_no_unique_record(setting):
    frame = released_by(setting, Mondrian(k=5))
    assert all(one.copied == 0 for one in copied_records(setting, finished(setting, frame)))
