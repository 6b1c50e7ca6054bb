"""How to cite the software, made from CITATION.cff when a page is built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

CITATION = Path(__file__).parents[3] / "CITATION.cff"


def bibtex(path: Path = CITATION) -> str:
    """BibTeX entry of a citation file. `@misc` is known to BibTeX and to biblatex.

    Parameters
    ----------
    path : Path
        File in the Citation File Format: title, version, date-released and authors.
    """
    import yaml

    about = yaml.safe_load(path.read_text(encoding="utf-8"))
    fields = {
        "author": " and ".join(map(_author, about["authors"])),
        "title": f"{{{about['title']}}}",
        "year": str(about["date-released"])[:4],
        "note": f"Software, version {about['version']}",
    }
    lines = [f"  {name:<6} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(["@misc{tokumei,", *lines, "}"])


def _author(author: Mapping[str, str]) -> str:
    """A person by family name, or a group in braces, which keep its words together."""
    if "name" in author:
        return f"{{{author['name']}}}"
    return f"{author['family-names']}, {author['given-names']}"
