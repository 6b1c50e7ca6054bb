"""The command ``tokumei``, and its two functions for Python: `run` plays scenarios, `read_board` reads a database.

The command checks that no other module hides the five packages, then runs the command line.
"""

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TextIO

PACKAGES = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
BAD_INPUT, INTERRUPTED = 2, 130
MARK = '__distribution__ = "tokumei"'
PYTHON = ("run", "read_board")
"""Functions for Python, from `scenarios`."""
__version__: str


def __getattr__(name: str) -> Any:
    """Look up `__version__` and `PYTHON` on demand; importing packages would slow every start."""
    if name in PYTHON:
        import scenarios

        return getattr(scenarios, name)
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from leaderboard.results.version import version

    return version()


def __dir__() -> list[str]:
    """Names of the module, with those that are looked up on demand."""
    return sorted({*globals(), *PYTHON, "__version__"})


def intruder() -> str | None:
    """Find a module that hides one of the five packages, or None; imports nothing."""
    for name in PACKAGES:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        origin = spec.origin if spec else None
        if origin is None or not Path(origin).is_file():
            folders = spec.submodule_search_locations if spec else None
            return f"package {name!r} at {next(iter(folders))}" if folders else f"package {name!r}, which is missing"
        if MARK not in Path(origin).read_text(encoding="utf-8", errors="replace"):
            return f"module {name!r} at {origin}"
    return None


def main() -> None:
    """Run the command line and exit; an error is one line on standard error.

    The environment variable TOKUMEI_TRACEBACK, if not empty, adds the traceback of an unexpected exception.
    """
    try:
        code = _code()
    except KeyboardInterrupt:
        # A second one, while the first was reported.
        code = INTERRUPTED
    # All is said: a further Ctrl-C ends the process at once instead of breaking into its end with a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Another program goes on after the command.
    if Path(getattr(sys.modules["__main__"], "__file__", None) or "").stem == "tokumei":
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End the process after Python's own last steps, without the destructors of libraries.

    The interpreter ends a thread that asks for it once it is being torn down. A thread of Arrow's that then still frees
    the bytes of a file is in C++ code that cannot be ended so, and the process would abort after a complete answer.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _code() -> int:
    """Run the command line and return its exit code."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    conflict = intruder()
    if conflict:
        return _fail(f"tokumei cannot run beside {conflict}. Install it into an environment of its own.")
    if sys.stdout is None:
        return _fail("standard output is closed")
    try:
        from scenarios.commands.cli import main as run

        code = run()
    except KeyboardInterrupt:
        code = _interrupted()
    except BrokenPipeError:
        code = 0
    except SystemExit as end:
        from scenarios.running.methods.source_locations import user_code_location

        # A method of the user's own must not end the program as if all had gone well.
        code = _fail(_message(end)) if user_code_location(end) else end.code if isinstance(end.code, int) else 0
    except Exception as error:
        # Python 3.11 wraps what is raised while a class is made, as when a package is imported.
        if isinstance(error.__cause__, KeyboardInterrupt):
            code = _interrupted()
        else:
            if os.environ.get("TOKUMEI_TRACEBACK"):
                import traceback

                traceback.print_exc()
            code = _fail(_message(error))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        # A command that failed with this error has reported it already.
        code = code if code == BAD_INPUT else _fail(_message(error))
    return code


def _message(error: BaseException) -> str:
    """An exception in one printable line; the name of its class precedes errors other than `OSError`."""
    from metrics.columns.printable import one_line

    if isinstance(error, OSError):
        return one_line(error)
    from scenarios.running.methods.source_locations import user_code_location

    return f"{type(error).__name__}: {one_line(error)}{user_code_location(error)}"


def _interrupted() -> int:
    """Say that the user stopped the command."""
    _say("Interrupted.")
    return INTERRUPTED


def _fail(text: str) -> int:
    """Say what is wrong."""
    _say(f"Error: {text}")
    return BAD_INPUT


def _say(text: str) -> None:
    """Write one line to standard error, if it can be written."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that the interpreter can flush it at exit without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
