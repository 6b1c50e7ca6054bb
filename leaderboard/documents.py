"""Self-contained HTML documents: they load nothing from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leaderboard.tables import number

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, filters: Mapping[str, Callable[..., Any]], **values: Any) -> str:
    """HTML text of a document.

    Parameters
    ----------
    template : str
        File name of its template.
    filters : mapping of callables
        What the template calls beside `number`.
    **values
        What it shows; a name that it uses and that is not here is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, **filters}
    return environment.get_template(template).render(values)
