"""Runs the commands and the code of one page in a scratch folder, or takes them from the cache."""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SITE = Path(__file__).parents[1]
ROOT = SITE.parents[1]
PACKAGES = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
FORKS = "TOKUMEI_SITE_FORKS"
"""Variable that names the descriptor of the server from which `programs` fork what they run, if there is one."""
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class RunError(Exception):
    """A command or a block of code of a page failed, or its output must not be published."""


def code_version() -> str:
    """Hash of all files that an output may depend on, apart from the pages themselves."""
    digest = hashlib.sha256()
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    files += [
        *(SITE / "examples").iterdir(),
        *(SITE / "programs").iterdir(),
        *(SITE / "extensions").glob("*run*.py"),
        SITE / "extensions/python_worker.py",
    ]
    files += [ROOT / "tokumei.py", ROOT / "CITATION.cff", *(ROOT / "docs" / "board").glob("*")]
    for path in sorted(files):
        if not {"__pycache__", "_build"} & set(path.parts):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def environment() -> dict[str, str]:
    """Environment of a page's processes: no colours, fixed width, UTC; one thread, since pages share the cores."""
    settings = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    path = os.pathsep.join([str(SITE / "programs"), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    modules = f"{ROOT}{os.pathsep}{SITE / 'support'}"
    settings |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return os.environ | settings | {"PATH": path, "PYTHONPATH": modules, "PYTHONDONTWRITEBYTECODE": "1"}


class PageRun:
    """The scratch folder of a page, its processes, and their results in order.

    Parameters
    ----------
    record : Path
        File of the cache for this page.
    key : str
        Hash of everything that the results depend on. A record with another key is not used.
    """

    def __init__(self, record: Path, key: str) -> None:
        self._record = record
        self._key = key
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._worker: subprocess.Popen[str] | None = None
        self._results: list[dict] = []
        self._cached: list[dict] = []
        self._failed = False
        if record.exists():
            stored = json.loads(record.read_text(encoding="utf-8"))
            self._cached = stored["results"] if stored["key"] == key else []

    @property
    def folder(self) -> Path:
        """Scratch folder that all commands of the page share."""
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="page-")
        return Path(self._scratch.name).resolve()

    def command(self, line: str, *, exit_codes: list[int], errors: bool, seconds: float) -> str:
        """Output of a shell command.

        Parameters
        ----------
        line : str
            Command line for bash.
        exit_codes : list of int
            The expected exit codes.
        errors : bool
            Whether the output contains standard error, too.
        seconds : float
            Time limit.

        Raises
        ------
        RunError
            If the command ends otherwise or runs too long, or if its output must not be published.
        """

        def call() -> dict:
            ended = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line],
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if errors else subprocess.PIPE,
                encoding="utf-8",
                timeout=seconds,
                pass_fds=[int(os.environ[FORKS])] if FORKS in os.environ else [],
            )
            if ended.returncode not in exit_codes:
                said = f"{ended.stdout}{ended.stderr or ''}"
                raise RunError(f"`{line}` ended with exit code {ended.returncode}, not {exit_codes}:\n{said}")
            return {"output": self._publishable(ended.stdout, line)}

        return self._result({"command": line, "exit": exit_codes, "errors": errors}, call)["output"]

    def file(self, name: str, content: str) -> None:
        """Write a file into the scratch folder."""

        def call() -> dict:
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
            return {}

        self._result({"file": name, "content": content}, call)

    def python(
        self, *, code: str | None = None, expression: str | None = None, raises: str | None = None
    ) -> list[dict]:
        """What a block of code or an expression shows: parts of kind "text", "table" or "picture".

        Raises
        ------
        RunError
            If the code raises another exception than the one named by `raises`, or none although one is named.
        """
        request = {"code": code} if code is not None else {"expression": expression}

        def call() -> dict:
            reply = self._ask(request)
            error = (reply["error"] or "").strip()
            if bool(error) != bool(raises) or (raises and raises not in error.partition(":")[0]):
                problem = reply.get("trace") or f"expected {raises}, but nothing was raised"
                raise RunError(f"{code or expression}\n{problem}")
            parts = reply["parts"] + ([{"kind": "text", "content": error}] if error else [])
            for part in parts:
                part["content"] = self._publishable(part["content"], code or expression or "")
            return {"parts": parts}

        return self._result(request | {"raises": raises}, call)["parts"]

    def close(self) -> None:
        """End the page's processes, remove its folder, and store the results if all are good."""
        if self._worker is not None:
            self._worker.communicate()
        if self._scratch is not None:
            self._scratch.cleanup()
        if self._results and not self._failed:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            self._record.write_text(json.dumps({"key": self._key, "results": self._results}), encoding="utf-8")

    def _result(self, request: dict, call) -> dict:
        """Stored result of the request, if the page's record has it at this place; otherwise the result of the call."""
        place = len(self._results)
        if place < len(self._cached) and self._cached[place]["request"] == request:
            result = self._cached[place]["result"]
        else:
            if self._cached:
                # The folder lacks what the recorded requests left there.
                self._failed = True
                self._record.unlink(missing_ok=True)
                raise RunError("the page asks for other runs than its record holds: build again")
            try:
                result = call()
            except (RunError, subprocess.TimeoutExpired, OSError) as error:
                self._failed = True
                raise RunError(str(error)) from error
        self._results.append({"request": request, "result": result})
        return result

    def _ask(self, request: dict) -> dict:
        if self._worker is None:
            self._worker = subprocess.Popen(
                [str(SITE / "programs" / "python"), str(SITE / "extensions" / "python_worker.py")],
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                pass_fds=[int(os.environ[FORKS])] if FORKS in os.environ else [],
            )
        assert self._worker.stdin is not None and self._worker.stdout is not None  # noqa: S101, PT018
        self._worker.stdin.write(json.dumps(request) + "\n")
        self._worker.stdin.flush()
        line = self._worker.stdout.readline()
        if not line:
            raise RunError(f"the process ended while it ran:\n{request}")
        return json.loads(line)

    def _publishable(self, text: str, source: str) -> str:
        """Text without ANSI codes and without the scratch folder's name.

        Raises
        ------
        RunError
            If it names a path of this machine or today's date, unless the page's source does.
        """
        text = ANSI.sub("", text).replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        for private in (str(ROOT), sys.prefix, str(Path.home()), tempfile.gettempdir() + "/", today):
            if len(private) > 1 and private in text and private not in source:
                raise RunError(f"the output of `{source}` contains {private}:\n{text}")
        return text.rstrip("\n")
