"""The command ``tokumei``: checks that no other module hides the five packages, then runs the command line."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
INTERRUPTED = 130
MARK = '__distribution__ = "tokumei"'
__version__: str


def __getattr__(name: str) -> str:
    """Look up `__version__` on demand; importing the metadata reader would slow every start."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import metadata

    try:
        return metadata.version("tokumei")
    except metadata.PackageNotFoundError:
        # A checkout that is not installed.
        import tomllib

        text = Path(__file__).with_name("pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])


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
    """Run the command line, or name the foreign module that hides a package (exit code 2)."""
    conflict = intruder()
    if conflict:
        print(
            f"Error: tokumei cannot run beside {conflict}. Install it into an environment of its own.", file=sys.stderr
        )
        sys.exit(2)
    try:
        from scenarios.cli import main as run

        code = run()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe: discard what is left in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    main()
