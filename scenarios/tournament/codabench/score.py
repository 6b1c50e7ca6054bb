"""Scoring program of a Codabench bundle: unpacks the modules of Tokumei beside it, and scores a submission.

``python3 score.py INPUT OUTPUT`` reads ``INPUT/ref`` and ``INPUT/res``, and writes ``OUTPUT/scores.json``.
"""

import sys
import tempfile
import zipfile
from pathlib import Path


def main() -> int:
    """Score a submission; return the exit code: 0, 1 if scoring failed, 2 if the submission breaks a rule."""
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(Path(__file__).with_name("tokumei.zip")) as modules:
            modules.extractall(scratch)
        sys.path.insert(0, scratch)
        try:
            from scenarios.tournament.codabench.scoring_program import run
        except ModuleNotFoundError as error:
            print(f"the image lacks {error.name}; the host builds it from image/Dockerfile", file=sys.stderr)
            return 1
        return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
