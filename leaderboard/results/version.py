"""The version of this software, which boards and results state."""

from pathlib import Path


def version() -> str:
    """Version of the installed distribution, or of the checkout if none is installed."""
    # Imported on demand, since the metadata reader would slow every start.
    from importlib import metadata

    try:
        return metadata.version("tokumei")
    except metadata.PackageNotFoundError:
        import tomllib

        text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
