"""Growth: how a benchmark's time rises with its size, fitted over the sizes that were run.

A benchmark that sets ``benchmark.extra_info["size"]`` and has one name for all its sizes (``benchmark.group``) takes
part. The exponent is the slope of log(fastest time) over log(size): 1 is linear, 2 quadratic.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np


def exponents(measured):
    """Group, sizes, seconds and fitted exponent, the steepest first; groups of fewer than three sizes are left out.

    Parameters
    ----------
    measured : iterable of (str, float, float)
        Group, size and fastest time in seconds.
    """
    groups = defaultdict(dict)
    for group, size, seconds in measured:
        groups[group][size] = seconds
    fitted = []
    for group, times in groups.items():
        if len(times) < 3:
            continue
        sizes, seconds = zip(*sorted(times.items()), strict=True)
        slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        fitted.append((group, sizes, seconds, slope))
    return sorted(fitted, key=lambda one: -one[3])


def table(measured):
    """The report as text."""
    from tabulate import tabulate

    rows = [
        [
            group,
            f"{sizes[0]:g} to {sizes[-1]:g}",
            *(f"{1000 * seconds[place]:.3g} ms" for place in (0, -1)),
            f"{slope:.2f}",
        ]
        for group, sizes, seconds, slope in exponents(measured)
    ]
    headers = ("what", "sizes", "smallest", "largest", "exponent")
    return tabulate(rows, headers, colalign=("left", "left", "right", "right", "right"), disable_numparse=True)


def saved(path):
    """Measurements in a file that ``pytest --benchmark-json`` wrote."""
    for one in json.loads(Path(path).read_text())["benchmarks"]:
        if "size" in one["extra_info"]:
            yield one["group"], one["extra_info"]["size"], one["stats"]["min"]


if __name__ == "__main__":
    print(table(saved(sys.argv[1])))
