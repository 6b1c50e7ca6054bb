"""Self-contained HTML documents, which load no external resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leaderboard.tables import number

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, filters: Mapping[str, Callable[..., Any]], **values: Any) -> str:
    """HTML text of a document made from a template.

    Parameters
    ----------
    template : str
        File name of the template.
    filters : mapping of callables
        Filters of the template besides `number`.
    **values
        Variables of the template; an undefined variable is an error.
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
