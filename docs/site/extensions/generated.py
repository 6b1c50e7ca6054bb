"""Generates the pages of methods and of the Python interface before Sphinx reads its sources."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx


def write_pages(app: Sphinx, config) -> None:
    """Write the pages anew; they are in English only."""
    if config.language != "en":
        return
    import api_pages
    from method_pages import MethodPages

    source = Path(app.srcdir)
    for folder in ("methods", "api"):
        shutil.rmtree(source / folder, ignore_errors=True)
    MethodPages(source).write()
    api_pages.write(source)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the configuration."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
