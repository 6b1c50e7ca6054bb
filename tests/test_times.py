"""No test asserts a time, since it would fail on a busy machine: speed belongs to benchmarks, which compare."""

import textwrap
from pathlib import Path

import clock_tools
import pytest
from clock_tools import asserted_times
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
# The one wait of all tests, for what may take any time, has an end.
ALLOWED = {("run_tools.py", "if time.monotonic() > end: fails")}


@pytest.mark.thorough
def test_no_test_asserts_a_time():
    paths = [path for path in TESTS.rglob("*.py") if "benchmarks" not in path.parts]
    helpers, wrong = {}, []
    # Helpers first, so that what they return is known where they are imported.
    for path in sorted(paths, key=lambda path: path.stem.startswith("test_")):
        if path not in (Path(__file__), Path(clock_tools.__file__)):
            found, helpers[path.stem] = asserted_times(path.read_text(encoding="utf-8"), helpers)
            lines = [(f"{path.relative_to(TESTS)}:{line}", says) for line, says in found]
            wrong += [f"{place}: {says}" for place, says in lines if (path.name, says) not in ALLOWED]
    assert wrong == []


ASSERTIONS = {
    "a difference": """
        def test():
            start = time.process_time()
            work()
            assert time.process_time() - start < 7.5
    """,
    "a name": """
        def test():
            began = perf_counter()
            lasted = perf_counter() - began
            assert lasted < 10
    """,
    "a helper": """
        def best(*given):
            def spent():
                return resource.getrusage(0).ru_utime
            times = [0]
            times.append(spent())
            return min(b - a for a, b in pairwise(times))
        def test():
            assert best("a") < best("b") / 3
    """,
    "a fixture": """
        @pytest.fixture
        def played():
            began = time.monotonic()
            return work(), time.monotonic() - began
        def test(played):
            assert played[1] < 150
    """,
    "an imported helper": """
        from some_tools import timed_run
        def test():
            assert timed_run() < 3
    """,
    "a stored time": """
        def test():
            for name, seconds in rows():
                assert seconds < LIMIT + 2, name
    """,
    "an attribute": """
        def test():
            assert done.seconds > 0
    """,
    "a dictionary": """
        def test():
            spent = {}
            for rows in (1, 10):
                spent[rows] = perf_counter()
            assert spent[10] <= 13 * spent[1]
    """,
    "a lower bound": """
        def test():
            data, began = b"", time.monotonic()
            assert time.monotonic() - began > 2 * LIMIT
    """,
    "a rate": """
        def test():
            began = time.monotonic()
            assert 0 < len(looks) <= 2 + (time.monotonic() - began) / 0.2
    """,
    "an end": """
        def test():
            end = time.monotonic() + 5
            while running():
                assert time.monotonic() < end
    """,
    "an end that fails": """
        def test():
            end = time.monotonic() + 5
            while running():
                if time.monotonic() > end:
                    pytest.fail("late")
    """,
    "a date": """
        def test():
            began = datetime.now(UTC)
            assert (datetime.now(UTC) - began).total_seconds() < 3
    """,
    "a started program": """
        CODE = "from time import *; began = perf_counter(); work(); print(perf_counter() - began)"
    """,
    "a short wait": """
        SHORT = 0.3
        def test():
            assert posted.result(20 * SHORT).status_code == 200
    """,
    "a short process": """
        def test():
            subprocess.run(["tokumei"], timeout=5)
    """,
}


def found_in(code):
    return asserted_times(textwrap.dedent(code), {"some_tools": {"timed_run": True}})[0]


@pytest.mark.parametrize("name", ASSERTIONS)
def test_each_form_of_an_assertion_of_time_is_found(name):
    assert len(found_in(ASSERTIONS[name])) == 1


@pytest.mark.parametrize(
    "code",
    [
        """
        def test():
            began = time.monotonic()
            print(time.monotonic() - began)
            assert work() < 3
        """,
        """
        @pytest.fixture
        def played():
            return work(), time.monotonic()
        def test(played):
            board, _ = played
            assert board > 3
        """,
        """
        def test():
            with pytest.raises(TimeoutError):
                second.result(0.3)
            assert not queue.wait(0.5)
        """,
        """
        def test():
            assert process.communicate(timeout=300) == ended
            assert pace.seconds(1.0) < 9
        """,
        """
        CODE = "import time; time.sleep(60)"
        """,
    ],
)
def test_waits_and_measured_times_that_nothing_depends_on_are_no_assertions(code):
    assert found_in(code) == []


def test_generated_examples_have_no_deadline():
    """The profile of all tests; Hypothesis would fail an example that takes 200 ms, or is made slowly."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
