"""Dates are read as numbers and written as dates: formats, bounds, calendar levels, and every command."""

import datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_tools import invoke

from defenses import GlobalRecoding, Incognito, Mondrian, RetentionReplacement
from defenses.base.hierarchy import IntervalHierarchy
from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.tables.dataset import load_table
from scenarios.tables.reading import calendar_periods
from scenarios.tables.reading.calendar_periods import DAY, FIRST, LAST, PERIODS
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.date_format import ISO, ISO_TIME, DateFormat
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tables.released import read_released, write_table
from scenarios.tables.review.summary import summary

ROLES = """
quasi_identifiers = ["admitted", "age"]
sensitive = ["flu"]
[columns.admitted]
type = "date"
low = 2020-01-15
high = "2024-12-31"
hierarchy = { calendar = ["month", "quarter", "year"] }
[columns.age]
type = "number"
integer = true
low = 20
high = 59
cuts = [30, 40, 50]
[columns.flu]
type = "category"
categories = ["no", "yes"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-15") + rng.integers(0, 1800, 200)
    people = {
        "admitted": days.astype(str),
        "age": rng.integers(20, 60, 200),
        "flu": rng.choice(["yes", "no"], 200),
    }
    pd.DataFrame(people).to_csv("people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


def call(*arguments):
    """Output of a command that succeeds."""
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(folder, texts, roles=ROLES):
    """The line that refuses a table with these dates."""
    table = pd.DataFrame({"admitted": texts, "age": 30, "flu": "yes"})
    table.to_csv(folder / "bad.csv", index=False)
    (folder / "bad.toml").write_text(roles)
    with pytest.raises(ValueError, match=r"^[^\n]+\Z") as caught:
        load_table(folder / "bad.csv", folder / "bad.toml")
    return str(caught.value).replace(f"{folder}/", "")


def loaded(folder, texts, roles=None):
    pd.DataFrame({"day": texts, "x": ["a", "b"] * (len(texts) // 2) + ["a"] * (len(texts) % 2)}).to_csv(
        folder / "t.csv", index=False
    )
    if roles is not None:
        (folder / "t.toml").write_text(f'[columns.day]\ntype = "date"\n{roles}')
    return load_table(folder / "t.csv", None if roles is None else folder / "t.toml")


@pytest.mark.parametrize(
    ("text", "pattern", "number"),
    [
        ("1970-01-01", "%Y-%m-%d", 0),
        ("1969-12-31", "%Y-%m-%d", -1),
        ("2024-02-29", "%Y-%m-%d", 19782),
        ("2023-02-29", "%Y-%m-%d", None),
        ("2000-02-29", "%Y-%m-%d", 11016),
        ("1900-02-29", "%Y-%m-%d", None),
        ("1900-01-01", "%Y-%m-%d", -25567),
        ("2023-02-30", "%Y-%m-%d", None),
        ("2024-13-01", "%Y-%m-%d", None),
        ("0000-01-01", "%Y-%m-%d", None),
        (" 3/4/2020 ", "%d/%m/%Y", 18355),
        ("31/12/68", "%d/%m/%y", 36159),
        ("01/01/69", "%d/%m/%y", -365),
        ("Mar 3, 2020", "%b %d, %Y", 18324),
        ("3 march 2020", "%d %B %Y", 18324),
        ("2020年3月3日", "%Y年%m月%d日", 18324),
        ("1970-01-02T00:00:01", "%Y-%m-%dT%H:%M:%S", DAY + 1),
        ("1970-01-01 24:00", "%Y-%m-%d %H:%M", None),
        ("1970-01-01 23:59:60", "%Y-%m-%d %H:%M:%S", None),
        ("1970-01-01T00:00:00Z", "%Y-%m-%dT%H:%M:%S", None),
        ("२०२०-०१-०१", "%Y-%m-%d", None),
        ("", "%Y-%m-%d", None),
    ],
)
def test_a_date_is_a_number_of_days_or_seconds(text, pattern, number):
    assert DateFormat(pattern).number(text) == number


@pytest.mark.parametrize(
    "pattern", ["%Y-%m", "%d", "", "%Y-%m-%d%z", "%Y-%m-%d %M", "%Y-%m-%d %d", "%Y%", "%Y-%j-%m-%d"]
)
def test_formats_that_are_refused(pattern):
    with pytest.raises(ValueError, match="format"):
        DateFormat(pattern)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("bounds", [(None, None), (18275, 20000)])
@pytest.mark.parametrize("form", [ISO, ISO_TIME, DateFormat("%d/%m/%Y"), DateFormat("%b %d, %Y")])
def test_every_cell_is_read_back_as_it_was(form, bounds):
    """Periods, other ranges, half-open ranges, sets and single dates, also at the ends of the calendar."""
    rng, unit = np.random.default_rng(0), DAY if form.has_time else 1
    low, high = (None if bound is None else bound * unit for bound in bounds)
    dates = DateForm(form, low, high)
    first, last = (FIRST * unit, LAST * unit + unit - 1) if low is None else (low, high)
    numbers = [first, last, *rng.integers(first, last + 1, 200).tolist()]
    for start, end in pairwise(numbers):
        a, b = sorted((start, end))
        for cell in ("*", str(a), f"{{{a}|{b}}}", f"[{a},{b})" if a < b else str(a), f"[{a},{b}]" if a < b else str(a)):
            assert dates.read(dates.write(cell)) == cell
        for period in PERIODS:
            if unit == 1 and period in ("hour", "day"):
                continue
            position = calendar_periods.index(period, a, unit)
            ends = (
                calendar_periods.first(period, position, unit),
                calendar_periods.first(period, position + 1, unit) - 1,
            )
            one, two = max(ends[0], first), min(ends[1], last)
            assert one <= a <= two
            cell = f"[{one},{two}]" if one < two else str(one)
            assert dates.read(dates.write(cell)) == cell


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("[18322,18352]", "2020-03"),
        ("[18262,18352]", "2020-Q1"),
        ("[18262,18627]", "2020"),
        ("[18262,21914]", "2020s"),
        ("[18323,18329]", "2020-W10"),
        ("[18322,18351]", "[2020-03-01,2020-03-30]"),
        ("[18322,18353)", "[2020-03-01,2020-04-01)"),
        ("18322.4", "2020-03-01"),
        ("nonsense", "nonsense"),
    ],
)
def test_the_names_of_periods(cell, text):
    assert DateForm(ISO).write(cell) == text


@pytest.mark.parametrize("text", ["2023-02-30", "2020-W54", "2020-13", "2020-Q5", "20200", "[2020-01-01,x]", "", "x"])
def test_texts_that_are_no_dates_stay(text):
    assert DateForm(ISO).read(text) == text


def test_values_beyond_the_calendar_become_its_ends():
    assert DateForm(ISO).write(-1e9) == "0001-01-01"
    assert DateForm(ISO_TIME).write(1e15) == "9999-12-31T23:59:59"
    assert np.isnan(DateForm(ISO).write(np.nan))


def test_declared_dates(folder):
    dataset = load_table("people.csv", "roles.toml")
    domain = dataset.records.domain("admitted")
    assert (domain.low, domain.high, domain.integer) == (18276, 20088, True)
    assert domain.size == 60
    assert not domain.inferred
    hierarchy = dataset.records.hierarchies["admitted"]
    assert isinstance(hierarchy, IntervalHierarchy)
    assert [len(level) for level in hierarchy.levels] == [59, 19, 4, 0]
    texts = pd.read_csv("people.csv")["admitted"].to_numpy(dtype="datetime64[D]")
    assert dataset.records.frame["admitted"].tolist() == texts.astype(int).tolist()
    assert summary(dataset)[0][2:4] == ("date", "2020-01-15 to 2024-12-31, 60 bins")
    assert "admitted: no cuts declared: 60 bins of the calendar" in [*map(str, dataset.notes)]


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "defense",
    [
        *(GlobalRecoding(levels={"admitted": level}) for level in range(1, 5)),
        Incognito(k=5),
        Mondrian(k=5),
        RetentionReplacement(retention=0.5),
    ],
    ids=str,
)
def test_a_release_read_back_equals_the_released_cells(folder, defense, suffix):
    dataset = load_table("people.csv", "roles.toml")
    frame = defense.apply(dataset.records, np.random.default_rng(1)).frame
    write_table(dataset.written.write(frame), f"r{suffix}")
    again = read_released(folder / f"r{suffix}", folder / "roles.toml", spelling={}).frame
    assert again["admitted"].tolist() == frame["admitted"].astype(str).tolist()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "method", ["GlobalRecoding", "Mondrian", "Incognito", "RetentionReplacement", "PrivateMarginals"]
)
def test_every_command_takes_dates(folder, method):
    parameters = {
        "GlobalRecoding": "levels={admitted=2}",
        "RetentionReplacement": "retention=0.7",
        "PrivateMarginals": "epsilon=5",
    }
    given = ("-p", parameters.get(method, "k=5"), "people.csv", "--roles", "roles.toml", "--seed", 1)
    files = ("-o", "r.csv", "--truth", "who.csv") + (("--channel", "c.toml") if method == "GlobalRecoding" else ())
    call("defend", method, *given, *files)
    assert not pd.read_csv("r.csv", dtype=str)["admitted"].str.fullmatch(r"-?\d{5,}(\.\d+)?").any()
    with_roles = ("--roles", "roles.toml")
    assert "records" in call("risk", "r.csv", *with_roles)
    assert call("utility", "people.csv", "r.csv", *with_roles)
    attack = ("NearestNeighbour",) if method != "GlobalRecoding" else ("LikelihoodAssignment", "--channel", "c.toml")
    done = invoke("attack", *attack, "-r", "r.csv", "-c", "people.csv", "-o", "a.csv", *with_roles)
    assert done.exit_code == 0, done.stderr


@pytest.mark.thorough
def test_without_roles_dates_are_recognized_by_every_command(folder):
    call("defend", "Mondrian", "-p", "k=5", "people.csv", "-o", "r.csv")
    assert "utility" in call("utility", "people.csv", "r.csv")
    assert invoke("attack", "NearestNeighbour", "-r", "r.csv", "-c", "people.csv").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2023-02-30", "the value is no possible date"),
        ("2019-12-31", "the value lies outside 2020-01-15 to 2024-12-31"),
        ("31/12/2020", "is no date of the format %Y-%m-%d, such as 1970-01-01; it looks like %d/%m/%Y"),
        ("2020-03-01 10:00", "it looks like %Y-%m-%d %H:%M"),
        ("2020-03-01T10:00:00+09:00", "has a time zone; times with a time zone are not read as dates"),
        ("soon", "the value is no date of the format %Y-%m-%d"),
        ("18322", "the value is no date of the format %Y-%m-%d"),
    ],
)
def test_a_wrong_date_is_named_with_its_row(folder, text, words):
    message = refused(folder, ["2020-03-01", "2020-03-02", text])
    assert message.startswith("bad.csv: column 'admitted', row 3: ")
    assert words in message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("low = 2020-01-15\n", "", "'low' and 'high' come together"),
        ("2024-12-31", "2019-12-31", "is later than high"),
        ("2024-12-31", "2024-12-32", "'2024-12-32' is no date such as 2024-12-31"),
        ('["month", "quarter", "year"]', '["week", "month"]', "weeks do not nest in months"),
        ('["month", "quarter", "year"]', '["year", "month"]', "must ascend"),
        ('["month", "quarter", "year"]', '["hour"]', "'hour' needs dates with a time of day"),
        ('["month", "quarter", "year"]', '["fortnight"]', "no level 'fortnight'"),
        ('calendar = ["month", "quarter", "year"]', "intervals = [[]]", "the hierarchy of dates is a 'calendar'"),
        ("hierarchy = { cal", 'format = "%Y-%m"\nhierarchy = { cal', "must hold year, month and day"),
        ("hierarchy = { cal", 'format = "%Y-%m-%d%z"\nhierarchy = { cal', "convert dates to one time zone"),
        ("hierarchy = { cal", "cuts = [2019-01-01]\nhierarchy = { cal", "cuts must ascend after 2020-01-15"),
        ("low = 2020-01-15", "low = 2020-01-15T10:00:00", "has a time of day, which the column's format lacks"),
        ("low = 2020-01-15", "low = 18276", "low"),
    ],
)
def test_wrong_declarations_are_named(folder, old, new, words):
    assert old in ROLES
    message = refused(folder, ["2020-03-01"], ROLES.replace(old, new, 1))
    assert message.startswith("bad.toml: ")
    assert words in message


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["2020-03-01", "2020-12-31"], "%Y-%m-%d"),
        (["31/12/2020", "03/04/2020"], "%d/%m/%Y"),
        (["12/31/2020", "03/04/2020"], "%m/%d/%Y"),
        (["31.12.2020", "03.04.2020"], "%d.%m.%Y"),
        (["2020/03/01", "2020/12/31"], "%Y/%m/%d"),
        (["2020年3月1日", "2020年12月31日"], "%Y年%m月%d日"),
        (["03 Mar 2021", "14 Dec 2021"], "%d %b %Y"),
        (["3-March-2021", "14-December-2021"], "%d-%B-%Y"),
        (["Mar 3, 2021", "Dec 14, 2021"], "%b %d, %Y"),
        (["12/31/99", "01/13/20"], "%m/%d/%y"),
        (["2020-03-01 10:00", "2020-12-31 23:59"], "%Y-%m-%d %H:%M"),
        (["2020-03-01", "NA", "2020-12-31"], "%Y-%m-%d"),
        (["2020-03-01", "2020-03-01"], "%Y-%m-%d"),
        (["31-Dec-20", "3-MAR-21"], "%d-%b-%y"),
        (["01JAN1980", "14DEC2021"], "%d%b%Y"),
        (["2020-03-01 00:00:00.000", "2020-12-31 23:59:59.250"], "%Y-%m-%d %H:%M:%S"),
        (["２０２０/０３/０１", "２０２０／１２／３１"], "%Y/%m/%d"),
        (["昭和55年1月31日", "平成元年2月1日", "令和３年12月5日"], "%Y年%m月%d日"),
        (["S55.1.31", "H1.2.1", "R3.12.5"], "%Y.%m.%d"),
        (["12/31/2020 5:07 PM", "01/13/2021 12:00 am"], "%m/%d/%Y %I:%M %p"),
        ([f"{day}.{day % 12 + 1:02}.{70 + day}" for day in range(10, 30)], "%d.%m.%y"),
        ([f"{70 + day}{day % 12 + 1:02}{day}" for day in range(10, 30)], "%y%m%d"),
        # The other reading has years from 2001 to 2031, and few days of the month.
        ([f"{day:02}{day % 12 + 1:02}{19 + day % 3}" for day in range(1, 32) if day not in (29, 30)], "%d%m%y"),
    ],
)
def test_dates_are_recognized_and_said(folder, texts, pattern):
    dataset = loaded(folder, texts)
    assert dataset.written.dates("day").format.pattern == pattern
    assert f"day: dates of the format {pattern}, inferred from all values" in [*map(str, dataset.notes)]
    domain = dataset.records.domain("day")
    assert isinstance(domain, NumericDomain)
    assert domain.inferred
    assert dataset.records.frame["day"].isna().sum() == texts.count("NA")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["03/04/2020", "05/06/2020"], "declare type = \"date\" and format = '%d/%m/%Y' or '%m/%d/%Y'"),
        (["03/04/20", "05/06/21"], "format = '%d/%m/%y' or '%m/%d/%y' or '%y/%m/%d'"),
        (["2020-03-01T10:00:00Z", "2020-03-02T10:00:00Z"], "times with a time zone are not read as dates"),
        ([*(f"2020-03-{day:02}" for day in range(1, 31)), "2023-02-30"], "1 of 31 distinct texts are no date"),
        (["2020-03-01", "01/03/2020"], ""),
        (["1-2-3", "4-5-6"], ""),
        (["12.10.20", "13.11.20"], "declare type = \"date\" and format = '%d.%m.%y' or '%y.%m.%d'"),
        (["09:30", "10:15", "11:45", "23:59", "0:10"], "times of day, which are read as categories"),
        (["S55", "S60", "H3", "H10", "R2"], "if they are years of Japanese eras, write 昭和55年 or 1980"),
        (["20200301", "20201231"], None),
    ],
)
def test_what_may_be_something_else_stays_as_it_is(folder, texts, words):
    dataset = loaded(folder, texts)
    assert dataset.written.dates("day") is None
    if words is None:
        assert dataset.records.domain("day").integer
        return
    assert isinstance(dataset.records.domain("day"), CategoricalDomain)
    assert any(words in note for note in map(str, dataset.notes))


def test_missing_empty_and_constant_dates(folder):
    dataset = loaded(folder, ["2020-03-01", None, "2020-03-02"], "low = 2020-01-01\nhigh = 2020-12-31\n")
    assert dataset.records.frame["day"].isna().tolist() == [False, True, False]
    assert dataset.written.write(dataset.records.frame)["day"].tolist() == ["2020-03-01", None, "2020-03-02"]
    with pytest.raises(ValueError, match="has no value in any row"):
        loaded(folder, [None, None], "")
    empty = loaded(folder, [None, None], "low = 2020-01-01\nhigh = 2020-12-31\n")
    assert empty.records.frame["day"].isna().all()
    constant = loaded(folder, ["2020-03-01"] * 4)
    assert constant.records.domain("day").size == 1
    frame = GlobalRecoding(levels={"day": 1}).apply(constant.records, np.random.default_rng(0)).frame
    assert {*constant.written.write(frame)["day"]} == {"*"}


@pytest.mark.parametrize(
    ("low", "high", "period", "bins"),
    [
        ("2020-01-01", "2024-12-31", "month", 60),
        ("2020-01-01", "2025-01-01", "quarter", 21),
        ("1900-01-01", "2024-12-31", "year", 125),
        ("0001-01-01", "9999-12-31", "decade", 1000),
        ("2024-02-28", "2024-03-01", "day", 3),
    ],
)
def test_default_bins_follow_the_calendar(low, high, period, bins):
    ends = ISO.number(low), ISO.number(high)
    assert calendar_periods.default_period(*ends, 1) == period
    assert len(calendar_periods.cuts(period, *ends, 1)) + 1 == bins


def test_times_of_day(folder):
    roles = (
        'format = "%Y-%m-%d %H:%M"\nlow = 2024-02-28\nhigh = 2024-03-01\nhierarchy = { calendar = ["hour", "day"] }\n'
    )
    dataset = loaded(folder, ["2024-02-28 00:00", "2024-02-29 12:30", "2024-03-01 23:59"], roles)
    domain = dataset.records.domain("day")
    assert domain.high - domain.low == 3 * DAY - 1
    for level, written in ((1, "2024-02-29T12"), (2, "2024-02-29"), (3, "*")):
        frame = GlobalRecoding(levels={"day": level}).apply(dataset.records, np.random.default_rng(0)).frame
        assert dataset.written.write(frame)["day"][1] == written


def test_dates_of_parquet_files(folder):
    days = [datetime.date(2020, 3, 1), None, datetime.date(2024, 2, 29)]
    zone = pa.timestamp("us", "Asia/Tokyo")
    times = [datetime.datetime(2020, 3, 1, 9, 0, 0, 500, tzinfo=datetime.UTC)] * 3
    midnights = pa.array([datetime.datetime(2020, 3, 1)] * 3)
    table = {"a": pa.array(days), "b": pa.array(times).cast(zone), "c": midnights, "x": pa.array([1, 2, 3])}
    pq.write_table(pa.table(table), "t.parquet")
    (folder / "t.toml").write_text(
        '[columns.a]\ntype = "date"\nformat = "%d/%m/%Y"\nlow = 2020-01-01\nhigh = 2024-12-31\n'
    )
    dataset = load_table("t.parquet", "t.toml")
    written = dataset.written.write(dataset.records.frame)
    assert written["a"].tolist() == ["01/03/2020", None, "29/02/2024"]
    assert written["b"].tolist() == ["2020-03-01T09:00:00"] * 3
    assert written["c"].tolist() == ["2020-03-01"] * 3
    assert "b: times of the zone Asia/Tokyo were converted to UTC" in [*map(str, dataset.notes)]
    assert "b: fractions of seconds were cut off" in [*map(str, dataset.notes)]


def test_described_and_written_roles_declare_dates(folder):
    call("describe", "people.csv", "-o", "d.toml")
    text = (folder / "d.toml").read_text()
    assert 'type = "date"\nlow = "2020-01' in text
    assert "admitted: quasi-identifier" in text
    call("validate", "people.csv", "--write-roles", "w.toml")
    for roles in ("d.toml", "w.toml"):
        dataset = load_table("people.csv", roles)
        assert dataset.inferred == ()
        assert dataset.written.dates("admitted").format == ISO


def test_queries_about_dates_are_refused_in_words(folder):
    for query in ("mean admitted", "count where admitted<2021-01-01"):
        done = invoke("ask", "people.csv", query, "--roles", "roles.toml", "--epsilon", "1", "--dry-run")
        assert done.exit_code == 2
        assert "column 'admitted' holds dates, and queries about dates are not answered" in done.stderr
    assert (
        invoke("ask", "people.csv", "mean age", "--roles", "roles.toml", "--epsilon", "1", "--dry-run").exit_code == 0
    )


COMPACT = [f"{year}{month:02}{day:02}" for year in (2019, 2020) for month in (1, 5, 12) for day in (1, 17, 28)]


def test_dates_without_marks_are_dates(folder):
    dataset = loaded(folder, COMPACT)
    assert dataset.written.dates("day").format.pattern == "%Y%m%d"
    assert any("dates of the format %Y%m%d" in note for note in map(str, dataset.notes))
    text = call("describe", "t.csv")
    assert 'type = "date"\nformat = "%Y%m%d"' in text
    released = call("defend", "Microaggregation", "-p", "k=5", "t.csv", "--seed", "1")
    days = [line.split(",")[header_position(released)] for line in released.splitlines()[1:]]
    assert all(pd.notna(pd.to_datetime(day, format="%Y%m%d", errors="coerce")) for day in days)


@pytest.mark.parametrize(
    ("days", "form", "noted"),
    [
        ([f"{day}.0" for day in COMPACT], "%Y%m%d", "dates of the format %Y%m%d,"),
        ([f"{day}0930" for day in COMPACT], "%Y%m%d%H%M", "dates of the format %Y%m%d%H%M,"),
        ([f"{day}093015" for day in COMPACT], "%Y%m%d%H%M%S", "dates of the format %Y%m%d%H%M%S,"),
        ([f"{day}9930" for day in COMPACT], None, None),
        ([day[6:] + day[4:6] + day[:4] for day in COMPACT], "%d%m%Y", None),
        ([day[4:] + day[:4] for day in COMPACT], "%m%d%Y", None),
        ([(day[6:] + day[4:6] + day[:4]).lstrip("0") for day in COMPACT], "%d%m%Y", None),
        ([f"0{month}0{day}2020" for month in range(1, 5) for day in (1, 2)], None, None),
        ([*COMPACT, "99999999"], None, "1 of 19 distinct texts are no date of the format %Y%m%d"),
        ([f"2019{month:02}" for month in range(1, 13)], None, "every number is a year and month"),
        ([f"2019{month:02}" for month in range(1, 14)], None, None),
        ([str(year) for year in range(1950, 1970)], None, None),
    ],
)
def test_numbers_that_look_like_dates_are_dates_or_noted(folder, days, form, noted):
    dataset = loaded(folder, [*days, None])
    dates = dataset.written.dates("day")
    assert (None if dates is None else dates.format.pattern) == form
    said = [note for note in map(str, dataset.notes) if "format %Y" in note or "year and month" in note]
    assert [note[: len(f"day: {noted}")] for note in said] == ([] if noted is None else [f"day: {noted}"])


def test_years_of_eras_are_those_of_the_calendar(folder):
    dataset = loaded(folder, ["S55.1.31", "H1.2.1", "R3.12.5"])
    written = dataset.written.write(dataset.records.frame)["day"].tolist()
    assert written == ["1980.01.31", "1989.02.01", "2021.12.05"]
    assert any("years of Japanese eras" in note for note in map(str, dataset.notes))


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_dates_without_marks_are_dates_in_parquet(folder, kind):
    days = pd.Series(list(map(int, COMPACT))).astype(kind)
    frame = pd.DataFrame({"day": [*days[1:], None] if kind == "float64" else days})
    frame.to_parquet("n.parquet")
    assert load_table("n.parquet").written.dates("day").format.pattern == "%Y%m%d"


def header_position(text):
    return text.splitlines()[0].split(",").index("day")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_that_are_dates_are_noted_where_they_are_declared_as_numbers(folder, form):
    frame = pd.DataFrame({"day": list(map(int, COMPACT)), "x": 1})
    frame.to_csv("n.csv", index=False)
    frame.to_parquet("n.parquet")
    (folder / "n.toml").write_text('[columns.day]\ntype = "number"\ninteger = true\n')
    dataset = load_table(f"n.{form}", "n.toml")
    assert any(note.startswith("day: every number is a date") for note in map(str, dataset.notes))
    assert load_table(f"n.{form}").written.dates("day") is not None
    # Amounts of eight digits are no dates.
    frame.assign(day=frame["day"] + 60).to_csv("amounts.csv", index=False)
    assert load_table("amounts.csv").written.dates("day") is None


@pytest.mark.parametrize("sentinel", ["9999-12-31", "1900-01-01"])
def test_sentinels_of_dates_are_noted_whatever_their_number(folder, sentinel):
    days = [f"2024-02-{day:02}" for day in range(1, 21)] + [sentinel] * 10
    dataset = loaded(folder, days)
    (note,) = [note for note in map(str, dataset.notes) if sentinel in note and "empty these fields" in note]
    assert f"day: {sentinel} in 10 rows of 30" in note
    assert sum("empty" in line for line in invoke("describe", "t.csv").stderr.splitlines()) == 1
    assert not any("empty these fields" in note for note in map(str, loaded(folder, days[:20]).notes))


def test_default_bins_end_at_short_numbers(folder):
    (folder / "n.toml").write_text('[columns.x]\ntype = "number"\nlow = 64.9\nhigh = 163.1\n')
    values = np.round(np.linspace(64.9, 163.1, 983), 1)
    pd.DataFrame({"x": values}).to_csv("n.csv", index=False)
    domain = load_table("n.csv", "n.toml").records.domain("x")
    assert max(len(str(cut)) for cut in domain.cuts) <= 6
    done = invoke(
        "defend",
        "GlobalRecoding",
        "-p",
        "levels={x=1}",
        "n.csv",
        "--roles",
        "n.toml",
        "-o",
        "r.csv",
        "--truth",
        "who.csv",
    )
    assert done.exit_code == 0, done.output
    cells, truth = pd.read_csv("r.csv")["x"], pd.read_csv("who.csv")["record"]
    assert max(map(len, cells)) <= len("[104.18,114.00)")
    contains = read_cells(cells, domain)
    assert contains.contains(values)[contains.codes, truth].all()


@pytest.mark.parametrize("pattern", ["%d.%m.%Y", "%Y%m%d", "%d %b %Y"])
def test_released_dates_of_another_format_are_those_of_the_original(pattern):
    days = pd.date_range("1940-01-13", periods=40, freq="377D")
    written = WrittenCells({"born": DateForm(ISO)})
    given = (pd.Series([*days.strftime(one), "*"], dtype=object) for one in ("%Y-%m-%d", pattern))
    same, other = (written.read({"born": TextColumn.of_values("born", cells)})["born"].text_values() for cells in given)
    assert same.tolist() == other.tolist()
    assert same[0] == str(ISO.number("1940-01-13"))


def test_released_dates_whose_day_and_month_cannot_be_told_apart_stay():
    cells = pd.Series(["01.02.1980", "03.04.1981", "05.06.1982", "07.08.1983", "09.10.1984"], dtype=object)
    read = WrittenCells({"born": DateForm(ISO)}).read({"born": TextColumn.of_values("born", cells)})["born"]
    assert read.text_values().tolist() == cells.tolist()
