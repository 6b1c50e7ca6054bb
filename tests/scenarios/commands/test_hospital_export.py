"""A messy hospital table: from the export to a report to be signed, by the shell's commands alone."""

import csv

import numpy as np
import pytest
from finished_tools import few_attacks
from run_tools import invoke

ROWS = 1000
GAPS = ("", "N/A", "-")


def with_gaps(rng, cells, share):
    """Cells as texts, some of them missing in three spellings."""
    missing = rng.random(ROWS) < share
    spelling = rng.integers(len(GAPS), size=ROWS)
    return [GAPS[which] if gap else str(cell) for cell, gap, which in zip(cells, missing, spelling, strict=True)]


def write_export(path):
    """1,000 rows of 14 columns: gaps, postal codes with zeros, times without marks, quotes and free text."""
    rng = np.random.default_rng(1)
    age = rng.integers(0, 97, ROWS)
    codes = [f"0{area}{part}{street:02d}" for area in (1, 2, 3) for part in range(5) for street in (0, 7, 31)]
    ward = np.where(age < 16, "children", rng.choice(["surgery", "internal", "geriatrics", "eye"], ROWS))
    minutes = np.datetime64("2019-01-01T00:00", "m") + rng.integers(0, 730 * 1440, ROWS)
    stay = np.maximum(1, rng.gamma(2, 2.5, ROWS).round()).astype(int)
    height = (np.where(age < 18, 60 + 6 * age, 170) + rng.normal(0, 8, ROWS)).round(1)
    columns = {
        "PatientNo": [f"P{number:06d}" for number in rng.permutation(ROWS)],
        "Sex": with_gaps(rng, rng.choice(["F", "M"], ROWS), 0.01),
        "Age": age,
        "PostalCode": with_gaps(rng, rng.choice(codes, ROWS), 0.03),
        "Ward": ward,
        "Admitted": [str(minute).replace("-", "").replace("T", " ") for minute in minutes],
        "Discharged": minutes.astype("M8[D]") + stay,
        "Diagnosis": with_gaps(rng, rng.choice(["J18", "I50", "K35", "S72", "E11", "C50", "H25"], ROWS), 0.01),
        "Height": with_gaps(rng, height, 0.04),
        "Weight": with_gaps(rng, ((height / 100) ** 2 * rng.normal(24, 3, ROWS)).round(1), 0.04),
        "Cost": (stay * rng.lognormal(6, 0.4, ROWS)).round(2),
        "Insurance": with_gaps(rng, rng.choice(["public", "private"], ROWS, p=[0.86, 0.14]), 0.02),
        "Satisfaction": with_gaps(rng, rng.choice(["very bad", "bad", "neutral", "good", "very good"], ROWS), 0.2),
        "Remark": [f'pt. {number}, "see note"; phone {rng.integers(10**6)}' for number in range(ROWS)],
    }
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def call(*arguments, code=0):
    done = invoke(*arguments)
    assert done.exit_code == code, done.output
    return done


GROUPING = ("-p", "k=25", "-p", "t=0.1")
SYNTHETIC = ("-p", "epsilon=2")


@pytest.mark.thorough
def test_an_export_becomes_a_grouping_and_a_synthetic_release_with_reports_to_sign(tmp_path, monkeypatch):
    """Six commands: describe, split, and defend and report for each release, on one attack of each kind."""
    few_attacks(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_export(tmp_path / "export.csv")
    described = call("describe", "export.csv", "--na", "N/A", "--na", "-", "-o", "roles.toml")
    assert "Admitted: dates of the format %Y%m%d %H:%M" in described.stderr
    assert "empty these fields" not in described.stderr
    roles = (tmp_path / "roles.toml").read_text(encoding="utf-8")
    assert '"very bad",\n    "bad",\n    "neutral",\n    "good",\n    "very good",\n]\nordered = true' in roles
    assert '"031**"' in roles
    assert roles.index('identifiers = [\n    "PatientNo",\n    "Remark",\n]')
    of = ("export.csv", "--roles", "roles.toml", "--share", "0.4", "--seed", "1")
    call("split", *of, "-o", "kept.csv", "--control", "others.csv")
    people = ("kept.csv", "--roles", "roles.toml")
    call("defend", "Mondrian", *GROUPING, *people, "--seed", "1", "-o", "grouped.csv", "--truth", "who.csv")
    call("defend", "PrivateMarginals", *SYNTHETIC, *people, "--seed", "1", "-o", "synthetic.csv")
    judged = ("--roles", "roles.toml", "--control", "others.csv", "--threshold", "0.2")
    grouped = ("--truth", "who.csv", "--defense", "Mondrian", *GROUPING, "-o", "grouped.html")
    synthetic = ("--defense", "PrivateMarginals", *SYNTHETIC, "-o", "synthetic.html")
    for released, options in (("grouped.csv", grouped), ("synthetic.csv", synthetic)):
        done = call("report", "kept.csv", released, *judged, *options)
        assert "within .2" in done.stdout
        # Who attacks, and what this person knows, stands in the verdict.
        assert "Whoever knows " in done.stdout
        page = (tmp_path / options[-1]).read_text(encoding="utf-8")
        assert page.index("Whoever knows ") < page.index("Date and signature")
    header, first, *_ = (tmp_path / "grouped.csv").read_text(encoding="utf-8").splitlines()
    assert "PatientNo" not in header
    assert "Remark" not in header
    assert "phone" not in first
