"""JSON for terminals: letters of every script as they are."""

from __future__ import annotations

import json
from typing import Any


def json_text(content: Any) -> str:
    r"""JSON with two spaces of indentation; only characters that a terminal cannot show are escaped.

    Examples
    --------
    >>> print(json_text({"title": "奈良\x85"}))
    {
      "title": "奈良\u0085"
    }
    """
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)
