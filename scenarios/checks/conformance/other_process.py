"""Whether a method gives the same output in another process, where Python hashes texts differently."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

from attacks.base import Attack
from defenses import Defense, MicrodataRelease
from defenses.base import Parametrized
from scenarios.checks.conformance.attack_checks import claims_of, stages
from scenarios.checks.conformance.findings import require
from scenarios.checks.conformance.given_parameters import named_class
from scenarios.checks.conformance.trying import release_of
from scenarios.running.methods.invented_people import people
from scenarios.running.workers.differences import different_attribute, released_difference
from scenarios.tables.seeds import generator

HASH_SEEDS = ("1", "2")
"""Seeds of the hashes of texts in the other processes. Two texts of a set are in one order in half of all processes."""


def has_output(method: type[Parametrized]) -> bool:
    """Whether `output` knows how to run a class: a defense of tables, or an attack of a goal that is checked."""
    if issubclass(method, Attack):
        return (method.goal, method.kind) in stages()
    return issubclass(method, Defense) and method.kind == "microdata"


def output(method: type[Any]) -> Any:
    """Release of sixty people, or claims about one."""
    if issubclass(method, Attack):
        return claims_of(method)
    return release_of(method, people(60, generator(0, "people")), "release")


def check_other_processes(method: type[Any], name: str) -> None:
    """Check that the output does not depend on the process.

    Parameters
    ----------
    method : type
        The class under test.
    name : str
        Name by which another process finds it, with its parameters.

    Raises
    ------
    AssertionError
        If an output of another process differs, or that process fails.
    """
    here = output(method)
    processes = [_started(name, seed) for seed in HASH_SEEDS]
    ended = [process.communicate() for process in processes]
    for process, (content, errors) in zip(processes, ended, strict=True):
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        require(process.returncode == 0, f"it works in this process and fails in another one: {last}")
        # What our own program wrote about the user's own class.
        there = pickle.loads(content)  # noqa: S301
        compared = released_difference if isinstance(here, MicrodataRelease) else different_attribute
        changed = compared(here, there)
        right = "draw from rng alone, and sort what you take from a set: its order differs between processes"
        require(not changed, f"two processes with one seed differ in {changed}; {right}")


def _started(name: str, hash_seed: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    return subprocess.Popen(  # noqa: S603 (our own program)
        [sys.executable, "-m", __name__, name],
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def main() -> None:
    """Write the pickled output of the class that the first argument names to standard output."""
    # What the method prints goes to standard error.
    with os.fdopen(os.dup(1), "wb") as stream:
        os.dup2(2, 1)
        stream.write(pickle.dumps(output(named_class(sys.argv[1]))))


if __name__ == "__main__":
    main()
