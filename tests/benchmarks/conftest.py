"""What the tests have at hand, and after benchmarks a table of how times grow with size."""

import sys
from pathlib import Path

from growth import table

sys.path.insert(0, str(Path(__file__).parents[1]))


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    if session is None or session.disabled or session.skip:
        return
    measured = [
        (one.group, one.extra_info["size"], one.stats.min)
        for one in session.benchmarks
        if one.extra_info.get("size") and not one.has_error
    ]
    if measured:
        terminalreporter.section("growth with size (exponent 1 is linear)")
        terminalreporter.write_line(table(measured))
