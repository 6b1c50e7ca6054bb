"""TOML files read into validated models."""

from importlib import resources
from pathlib import Path


def library() -> dict[str, Path]:
    """Shipped scenario files by name."""
    folder = resources.files("scenarios") / "library"
    return {
        Path(str(file)).stem: Path(str(file))
        for file in sorted(folder.iterdir(), key=str)
        if file.name.endswith(".toml")
    }
