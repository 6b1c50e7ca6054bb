"""YAML of nested mappings and lists, whose scalars are written as in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_WORDS = {"no", "off", "on", "yes", "true", "false", "null"}
"""Words that are no strings in YAML."""


def yaml_text(content: Mapping[str, Any]) -> str:
    """A mapping as a YAML document; JSON scalars are valid YAML, and no string is read as a date or a number.

    Examples
    --------
    >>> print(yaml_text({"title": "a: b", "phases": [{"index": 0, "tasks": [0, 1]}]}), end="")
    title: "a: b"
    phases:
      - index: 0
        tasks:
          - 0
          - 1
    """
    return "".join(f"{line}\n" for line in _lines(content))


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        lines = []
        for name, one in value.items():
            if isinstance(one, Mapping | list) and one:
                lines += [f"{_key(name)}:", *(f"  {line}" for line in _lines(one))]
            else:
                lines.append(f"{_key(name)}: {_scalar(one)}")
        return lines
    if isinstance(value, list) and value:
        return [f"{'  ' if number else '- '}{line}" for one in value for number, line in enumerate(_lines(one))]
    return [_scalar(value)]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[a-z]\w+", name, re.ASCII) and name not in _WORDS else _scalar(name)


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
