"""Grouping methods on tables that are read in parts: time grows no faster than the rows."""

import math
import time

import pytest
from census_rows import QUASI_IDENTIFIERS, write_census
from numpy.random import SeedSequence
from pyarrow import parquet

from defenses import Incognito, Mondrian
from metrics import k_anonymity
from scenarios.tables.parts.files.output_files import output_files
from scenarios.tables.parts.files.shuffled_output import write_release
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import large_records

pytestmark = pytest.mark.long


def released(defense, folder, output):
    """Write a release; the processor time in seconds."""
    start = time.process_time()
    with large_records(folder, folder / "roles.toml", memory=4 << 30) as records:
        release = large_release(defense, records, SeedSequence(1))
        with output_files() as outputs:
            write_release(release, outputs, str(output), SeedSequence(1), written=records.dataset.written)
    return time.process_time() - start


@pytest.mark.parametrize(
    "defense", [Mondrian(k=10), Incognito(k=10, max_suppression=0.0)], ids=["mondrian", "incognito"]
)
def test_time_grows_no_faster_than_the_rows(tmp_path, defense):
    # Measured on two cores for Mondrian: 5.2 s for 1 million records and 30 s for 10 million.
    seconds = {}
    for rows in (1_000_000, 10_000_000):
        folder = write_census(tmp_path / str(rows), rows)
        output = tmp_path / "released.parquet"
        seconds[rows] = released(defense, folder, output)
        frame = parquet.read_table(output, columns=list(QUASI_IDENTIFIERS)).to_pandas(strings_to_categorical=True)
        assert len(frame) == rows
        assert k_anonymity(frame, QUASI_IDENTIFIERS) >= 10
    assert math.log10(seconds[10_000_000] / seconds[1_000_000]) <= 1.1
