"""What the tests have at hand, and after benchmarks a table of how times grow with size."""

from growth import table


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
