"""Self-contained HTML documents, which load no external resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from leaderboard.pages.number_text import measure, name_parts, number
from leaderboard.pages.pictures import DRAWING

_TEMPLATES = Path(__file__).parent / "templates"
_CODE = re.compile("`([^`\n]+)`")
_COMPILED: dict[str, bytes] = {}
"""Compiled templates of this process; Jinja's key tells paths apart, and the code contains a hash of the source."""


def breakable(name: str) -> Markup:
    """A name as HTML, whose line may break between its parts (`name_parts`).

    Examples
    --------
    >>> breakable("HadamardResponse of age")
    Markup('Hadamard<wbr>Response of age')
    """
    return Markup("<wbr>").join(name_parts(name))


def with_code(text: str) -> Markup:
    """A text as HTML, in which what stands between backticks is code.

    Examples
    --------
    >>> with_code("try `-p t=0.14` if a < b")
    Markup('try <code>-p t=0.14</code> if a &lt; b')
    """
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 (the text is escaped)


def render(
    template: str, filters: Mapping[str, Callable[..., Any]], *, folder: Path = _TEMPLATES, **values: Any
) -> str:
    """HTML text of a document made from a template; all documents share one style sheet.

    - template: File name of the template.
    - filters: Filters of the template besides `number`, `measure`, `breakable` and `with_code`.
    - folder: Folder of the template, which may extend templates of this package.
    - **values: Variables of the template; an undefined variable is an error.
    """
    from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
    from jinja2.bccache import Bucket

    class Compiled(BytecodeCache):
        """To compile a page takes longer than to fill it."""

        def load_bytecode(self, bucket: Bucket) -> None:
            if bucket.key in _COMPILED:
                bucket.bytecode_from_string(_COMPILED[bucket.key])

        def dump_bytecode(self, bucket: Bucket) -> None:
            _COMPILED[bucket.key] = bucket.bytecode_to_string()

    environment = Environment(
        loader=FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
    environment.globals |= DRAWING
    environment.filters |= {
        "number": number,
        "measure": measure,
        "breakable": breakable,
        "with_code": with_code,
        **filters,
    }
    return environment.get_template(template).render(values)
