"""Content of stored documents."""

from __future__ import annotations

import json
from typing import Any


def document_content(name: str, text: str) -> dict[str, Any]:
    """Content of a stored document, a JSON object.

    Raises
    ------
    ValueError
        If the document was changed by others.
    """
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the stored document {name[:8]} is damaged ({type(error).__name__})") from None
