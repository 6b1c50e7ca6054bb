"""Realistic census-like rows of any number, written to a folder of Parquet parts by DuckDB.

Each row depends on its number and the seed alone, so that a smaller table is the beginning of a larger one and no
number of parts or cores changes it. Households share a region; the ages, sexes and origins of their members depend on
each other; occupation depends on education and sex, hours on occupation, illness on age, and the wage on all of them.

``python tests/benchmarks/census_rows.py 1e7 FOLDER`` writes ten million rows and ``FOLDER/roles.toml``.
"""

import argparse
import math
import shutil
from pathlib import Path

import duckdb

PART = 5_000_000
"""Rows of a part."""
ROW_BYTES = 8
"""Bytes of a row on disk, at most."""
COLUMNS = ("region", "age", "sex", "household", "education", "occupation", "origin", "hours", "illness", "wage")
QUASI_IDENTIFIERS = COLUMNS[:8]
REGIONS, OCCUPATIONS, ORIGINS = 50, 20, 10

# Members of ten consecutive rows by household: number of the household, position in it, its size.
_PATTERNS = ((1, 2, 3, 4), (1, 1, 2, 2, 4), (2, 2, 3, 3), (1, 1, 1, 2, 5), (2, 4, 4), (1, 1, 1, 1, 2, 2, 2))
_SEED = 1 << 44
_STREAMS = 32

ROLES = """\
quasi_identifiers = ["region", "age", "sex", "household", "education", "occupation", "origin", "hours"]
sensitive = ["illness"]
unprotected = ["wage"]

[columns.region]
type = "category"
categories = [{regions}]
[columns.region.hierarchy]
rows = [
{region_rows}
]

[columns.age]
type = "number"
integer = true
low = 0
high = 99
[columns.age.hierarchy]
intervals = [{fives}, {tens}, [20, 40, 60, 80], [40, 60], []]

[columns.sex]
type = "category"
categories = ["f", "m"]
hierarchy = {{ rows = [["f", "*"], ["m", "*"]] }}

[columns.household]
type = "category"
categories = ["alone", "couple", "couple, 1 child", "couple, 2 children", "couple, 3 children", "one parent"]
[columns.household.hierarchy]
rows = [
  ["alone", "no child", "*"],
  ["couple", "no child", "*"],
  ["couple, 1 child", "family", "*"],
  ["couple, 2 children", "family", "*"],
  ["couple, 3 children", "family", "*"],
  ["one parent", "family", "*"],
]

[columns.education]
type = "category"
categories = ["none", "primary", "secondary", "vocational", "bachelor", "master"]
ordered = true
[columns.education.hierarchy]
rows = [
  ["none", "low", "*"],
  ["primary", "low", "*"],
  ["secondary", "middle", "*"],
  ["vocational", "middle", "*"],
  ["bachelor", "high", "*"],
  ["master", "high", "*"],
]

[columns.occupation]
type = "category"
categories = ["none", "retired", {occupations}]
[columns.occupation.hierarchy]
rows = [
  ["none", "not working", "*"],
  ["retired", "not working", "*"],
{occupation_rows}
]

[columns.origin]
type = "category"
categories = [{origins}]
[columns.origin.hierarchy]
rows = [
{origin_rows}
]

[columns.hours]
type = "number"
integer = true
low = 0
high = 60
[columns.hours.hierarchy]
intervals = [[1, 20, 35], [1], []]

[columns.illness]
type = "category"
categories = ["none", "cold", "asthma", "back pain", "depression", "diabetes", "heart", "cancer", "dementia", "rare"]

[columns.wage]
type = "number"
low = 0
high = 100000
"""


def roles_text():
    """Content of the roles file."""

    def rows(names, groups, word):
        return "\n".join(
            f'  ["{name}", "{word} {place * groups // len(names)}", "*"],' for place, name in enumerate(names)
        )

    regions = [f"region {number:02d}" for number in range(REGIONS)]
    occupations = [f"occupation {number:02d}" for number in range(OCCUPATIONS)]
    origins = ["here", *(f"country {number:02d}" for number in range(1, ORIGINS))]
    return ROLES.format(
        regions=", ".join(f'"{name}"' for name in regions),
        region_rows=rows(regions, 8, "province"),
        fives=list(range(5, 100, 5)),
        tens=list(range(10, 100, 10)),
        occupations=", ".join(f'"{name}"' for name in occupations),
        occupation_rows=rows(occupations, 6, "sector"),
        origins=", ".join(f'"{name}"' for name in origins),
        origin_rows='  ["here", "here", "*"],\n' + rows(origins[1:], 3, "continent"),
    )


def query(start, stop, seed=1):
    """SQL of rows `start` to `stop` - 1.

    Parameters
    ----------
    start, stop : int
        First row, and the row after the last.
    seed : int
        Seed below 2^18.
    """

    def uniform(unit, stream):
        """Random number in [0, 1) of a row or a household."""
        return f"((hash(({unit}) * {_STREAMS} + {stream} + {seed * _SEED}) >> 11)::DOUBLE * {2.0**-53})"

    def zipf(unit, stream, size):
        """Rank from 0 with probabilities like 1, 1/2, 1/3, …"""
        return f"least({size - 1}, floor(exp({uniform(unit, stream)} * {math.log(size + 1)})) - 1)::INTEGER"

    members = [
        [(home, place, size) for home, size in enumerate(pattern) for place in range(size)] for pattern in _PATTERNS
    ]
    lookups = [[[member[which] for member in pattern] for pattern in members] for which in range(3)]
    pattern = f"1 + (hash(ten * {_STREAMS} + 31 + {seed * _SEED}) % {len(_PATTERNS)})::INTEGER"
    return f"""
WITH numbered AS (SELECT range AS row, range // 10 AS ten, 1 + (range % 10)::INTEGER AS slot
              FROM range({start}, {stop})),
placed AS (SELECT row, ten, slot, {pattern} AS pattern FROM numbered),
homes AS (SELECT row, ten * 10 + {lookups[0]}[pattern][slot] AS home, {lookups[1]}[pattern][slot] AS place,
          {lookups[2]}[pattern][slot] AS size FROM placed),
shared AS (SELECT *, {zipf("home", 0, REGIONS)} AS area, {uniform("home", 1)} AS base, {uniform("home", 2)} AS bond,
           {uniform("home", 3)} AS from_here, {zipf("home", 4, ORIGINS - 1)} AS homeland,
           {uniform("row", 5)} AS u_age, {uniform("row", 6)} AS u_sex, {uniform("row", 7)} AS u_learning,
           {zipf("row", 8, OCCUPATIONS)} AS rank, {uniform("row", 9)} AS u_work, {uniform("row", 10)} AS u_hours,
           {uniform("row", 11)} AS u_ill, {uniform("row", 12)} AS u_wage, {uniform("row", 13)} AS v_wage,
           {uniform("row", 14)} AS u_origin FROM homes),
grown AS (SELECT *, size > 2 OR (size = 2 AND bond < 0.25) AS young,
          place >= 2 OR (place = 1 AND (bond < 0.25 AND size = 2)) AS child FROM shared),
aged AS (SELECT *, greatest(0, least(99, floor(CASE
             WHEN child THEN u_age * least(25, 4 + 30 * base)
             WHEN young THEN 24 + 30 * base + 8 * u_age
             WHEN size = 2 THEN 22 + 66 * base + 7 * u_age
             WHEN base < 0.4 THEN 19 + 16 * u_age
             ELSE 45 + 50 * sqrt(base - 0.4) * (0.4 + 0.6 * u_age) END)))::INTEGER AS age,
         CASE WHEN place = 1 AND NOT child THEN bond < 0.97 WHEN child THEN u_sex < 0.51
              WHEN size = 2 AND young THEN u_sex < 0.15 ELSE u_sex < 0.02 OR (size = 1 AND u_sex < 0.46) END AS male
         FROM grown),
learned AS (SELECT *, (CASE
             WHEN age < 7 THEN 0
             WHEN age < 16 THEN 1
             ELSE floor(least(5, greatest(0, 2.7 - greatest(0, age - 40) * 0.02 + 0.1 * (area < 6)::INTEGER
                  + 2.8 * (u_learning + bond - 1)))) END)::INTEGER AS learning FROM aged),
busy AS (SELECT *, CASE WHEN age < 16 OR (age < 65 AND u_work < 0.16 + 0.08 * (NOT male AND young)::INTEGER) THEN -2
                        WHEN age >= 65 AND u_work < 0.93 THEN -1
                        ELSE (rank * 5 + learning * 4 + male::INTEGER * 9) % {OCCUPATIONS} END AS job FROM learned),
working AS (SELECT *, CASE WHEN job < 0 THEN 0
                           WHEN u_hours < CASE WHEN male THEN 0.08 ELSE 0.38 END THEN 10 * (1 + (job % 3))
                           WHEN u_hours < 0.93 THEN 40 ELSE 50 END AS hours FROM busy)
SELECT printf('region %02d', area) AS region, age, CASE WHEN male THEN 'm' ELSE 'f' END AS sex,
       CASE WHEN size = 1 THEN 'alone' WHEN size = 2 AND NOT young THEN 'couple' WHEN size = 2 THEN 'one parent'
            WHEN size = 3 THEN 'couple, 1 child' WHEN size = 4 THEN 'couple, 2 children'
            ELSE 'couple, 3 children' END AS household,
       ['none', 'primary', 'secondary', 'vocational', 'bachelor', 'master'][learning + 1] AS education,
       CASE job WHEN -2 THEN 'none' WHEN -1 THEN 'retired' ELSE printf('occupation %02d', job) END AS occupation,
       CASE WHEN from_here < 0.8 - 0.15 * (area < 4)::INTEGER OR u_origin < 0.05 THEN 'here'
            ELSE printf('country %02d', homeland + 1) END AS origin,
       hours::INTEGER AS hours,
       CASE WHEN u_ill < 0.62 - 0.004 * age THEN 'none' WHEN u_ill < 0.74 - 0.004 * age THEN 'cold'
            WHEN u_ill < 0.80 - 0.004 * age THEN 'asthma' WHEN u_ill < 0.90 - 0.003 * age THEN 'back pain'
            WHEN u_ill < 0.94 - 0.002 * age THEN 'depression' WHEN u_ill < 0.97 - 0.001 * age THEN 'diabetes'
            WHEN u_ill < 0.99 - 0.0007 * age THEN 'heart' WHEN u_ill < 0.9995 - 0.0004 * age THEN 'cancer'
            WHEN u_ill < 0.9997 AND age > 50 THEN 'dementia' ELSE 'rare' END AS illness,
       CASE WHEN job < 0 THEN 0.0 ELSE round(least(99999, exp(6.6 + 0.14 * learning + 0.02 * hours
            + 0.008 * least(age, 55) + 0.03 * (job % 7)
            + 0.35 * sqrt(-2 * ln(1 - u_wage)) * cos({2 * math.pi} * v_wage))), 2) END AS wage
FROM working ORDER BY row"""


def write_census(folder, rows, seed=1, part=PART, threads=None):
    """Write a table to a new folder, in parts, with its roles file beside them.

    Parameters
    ----------
    folder : path-like
        The folder; it must not exist, or be empty.
    rows : int
        Number of rows.
    seed : int
        Seed below 2^18.
    part : int
        Rows of a part.
    threads : int, optional
        Number of threads; by default that of the cores.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        If the disk lacks the space. An incomplete folder is removed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{folder}: is not empty")
    free, needed = shutil.disk_usage(folder).free, rows * ROW_BYTES
    if free < needed:
        folder.rmdir()
        raise ValueError(f"{folder}: needs {needed / 1e9:.1f} GB of disk, but {free / 1e9:.1f} GB are free")
    try:
        with duckdb.connect(config={} if threads is None else {"threads": threads}) as connection:
            for number, start in enumerate(range(0, rows, part)):
                path = str(folder / f"part-{number:05d}.parquet").replace("'", "''")
                select = query(start, min(rows, start + part), seed)
                connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        (folder / "roles.toml").write_text(roles_text(), encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder)
        raise
    return folder


def main():
    """Write a table from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=float, help="number of rows, such as 1e7")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(write_census(options.folder, int(options.rows), options.seed))


if __name__ == "__main__":
    main()
