"""The command ``tokumei``: makes sure that the five packages are its own before it loads them."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
INTERRUPTED = 130
MARK = '__distribution__ = "tokumei"'
__version__: str


def __getattr__(name: str) -> str:
    """Look up `__version__` when it is asked for: importing what reads it would slow every start."""
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
    """Path of a module that hides one of the five packages, or None; nothing is imported to find out."""
    for name in PACKAGES:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        origin = spec.origin if spec else None
        if origin is None or not Path(origin).is_file():
            places = spec.submodule_search_locations if spec else None
            return f"package {name!r} at {next(iter(places))}" if places else f"package {name!r}, which is missing"
        if MARK not in Path(origin).read_text(encoding="utf-8", errors="replace"):
            return f"module {name!r} at {origin}"
    return None


def main() -> None:
    """Run the command line, or say which foreign module stands in its way (exit code 2)."""
    found = intruder()
    if found:
        print(f"Error: tokumei cannot run beside {found}. Install it into an environment of its own.", file=sys.stderr)
        sys.exit(2)
    try:
        from scenarios.cli import main as run

        code = run()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    main()
