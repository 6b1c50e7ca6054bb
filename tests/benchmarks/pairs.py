"""Benchmarks of two commits in turn: ``python tests/benchmarks/pairs.py BEFORE AFTER`` with two installed checkouts.

A case is slower if the median of its ratios, one for each pair of runs, is `LIMIT` or more. At least four of seven
pairs are then that far apart. If every tenth pair of equal commits is, a job of twelve cases raises a false alarm with
probability below `FALSE_ALARM`.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT, PAIRS, FALSE_ALARM = 1.3, 7, 0.033
CASES = (
    "test_anonymization_speed.py::test_mdav_on_six_numbers",
    "test_anonymization_speed.py::test_mondrian_on_30_000_rows",
    "test_federated_speed.py::test_a_thousand_clients_ten_thousand_weights[masks]",
    "test_first_steps_speed.py::test_a_table_of_100_000_rows_is_read",
    "test_first_steps_speed.py::test_help_beside_the_import_of_pandas[help]",
    "test_growth.py::test_attack[LearnedLinkage-500]",
    "test_growth.py::test_attack[LikelihoodAssignment-500]",
    "test_growth.py::test_defense[Mondrian-16000]",
    "test_growth.py::test_defense[PrivateMarginals-16000]",
    "test_growth.py::test_metric[k_anonymity-16000]",
    "test_linkage_speed.py::test_sparse_linkage",
    "test_pram_speed.py::test_release_of_a_million_records",
)


def times(checkout):
    """Run the cases in a checkout; the shortest time of each that passes there, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [".venv/bin/python", "-m", "pytest", "-n", "0", "--benchmark-only", f"--benchmark-json={report}"]
        cases = [f"tests/benchmarks/{case}" for case in CASES]
        subprocess.run([*command, *cases], cwd=checkout, stdout=subprocess.DEVNULL, check=False)
        found = json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
    return {one["fullname"].rpartition("/")[2]: one["stats"]["min"] for one in found if not one.get("has_error")}


def paired(before, after, run=times):
    """Times of pairs of runs, of which each begins with the other commit than the one before it."""
    for number in range(PAIRS):
        if number % 2:
            later, earlier = run(after), run(before)
        else:
            earlier, later = run(before), run(after)
        yield earlier, later


def ratios(pairs):
    """The median ratio of each case that both commits ran in every pair."""
    known = set.intersection(*(set(one) for pair in pairs for one in pair))
    return {case: statistics.median(later[case] / earlier[case] for earlier, later in pairs) for case in sorted(known)}


def main(before, after):
    """Compare two checkouts; the exit code is 1 if a case is slower or was not run."""
    medians = ratios(list(paired(before, after)))
    for case in CASES:
        median = medians.get(case)
        said = "not run on both commits" if median is None else f"{median:.2f}{' SLOWER' if median >= LIMIT else ''}"
        print(f"{case}: {said}")
    return int(set(CASES) - set(medians) != set() or max(medians.values()) >= LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
