"""A table of integers whose rows are nearly all alone: seven columns of 10 values, and one of 13.

``python tests/benchmarks/nearly_alone.py 2e7 FILE`` writes 20 million rows, of 18.5 million combinations.
"""

import argparse

import numpy as np
import pyarrow as pa
from pyarrow import parquet

SIZES = {f"q{place}": 10 for place in range(7)} | {"q7": 13}
_BLOCK = 1 << 20


def write_nearly_alone(rows, path):
    """Write a Parquet file of this many rows."""
    rng = np.random.default_rng(1)
    schema = pa.schema([(name, pa.int32()) for name in SIZES])
    with parquet.ParquetWriter(path, schema) as file:
        for start in range(0, rows, _BLOCK):
            block = {name: rng.integers(0, size, min(_BLOCK, rows - start)) for name, size in SIZES.items()}
            file.write_table(pa.table(block).cast(schema))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a table whose rows are nearly all alone.")
    parser.add_argument("rows", type=lambda text: int(float(text)))
    parser.add_argument("file")
    given = parser.parse_args()
    write_nearly_alone(given.rows, given.file)
