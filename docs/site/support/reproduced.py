"""Published numbers beside ours, computed when the page is built."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tables import Table

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Number:
    """A published number beside ours.

    Attributes
    ----------
    what : str
        What is measured.
    theirs, ours : float
        The published number as it is printed, and ours.
    decimals : int
        Decimals that are printed.
    test : str
        Test that checks it: a path below ``tests/`` without ``.py``, two colons, the function's name.
    tolerance : float, optional
        Largest difference; half of the last printed digit by default.

    Raises
    ------
    ValueError
        If the numbers differ by more, or if the test does not exist.
    """

    what: str
    theirs: float
    ours: float
    decimals: int
    test: str
    tolerance: float | None = None

    def __post_init__(self) -> None:
        allowed = 0.5000001 * 10.0**-self.decimals if self.tolerance is None else self.tolerance
        if not abs(self.ours - self.theirs) <= allowed:
            raise ValueError(f"{self.what}: ours {self.ours}, theirs {self.theirs}, allowed {allowed:g}")
        path, _, name = self.test.partition("::")
        if name not in functions(path):
            raise ValueError(f"{self.what}: there is no test {self.test}")


@cache
def functions(path: str) -> frozenset[str]:
    """Names of the test functions of a file below ``tests/``, without ``.py``."""
    file = ROOT / "tests" / f"{path}.py"
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def beside(numbers: Sequence[Number]) -> Table:
    """Table of numbers: theirs, ours, the difference, and the number of the test, which stands below.

    A test that all rows share stands above.

    Parameters
    ----------
    numbers : sequence of Number
        The rows.
    """
    tests = list(dict.fromkeys(one.test for one in numbers))
    rows = []
    for one in numbers:
        theirs, ours = (f"{value:,.{one.decimals}f}" for value in (one.theirs, one.ours))
        cells = (one.what, theirs, ours, _difference(one.ours - one.theirs, one.decimals))
        rows.append(cells if len(tests) == 1 else (*cells, str(tests.index(one.test) + 1)))
    heads = ("", "theirs", "ours", "difference")
    return Table(heads, rows, f"Test: {tests[0]}") if len(tests) == 1 else Table((*heads, "test"), rows, notes=tests)


def _difference(value: float, decimals: int) -> str:
    """A difference with the decimals of the numbers, or with one digit if it is smaller."""
    if not value:
        return "0"
    return f"{value:+.{decimals}f}" if abs(value) >= 0.5 * 10.0**-decimals else f"{value:+.0e}"
