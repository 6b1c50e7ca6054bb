"""Channel parts as tables of a channel file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from defenses.base.channel_parts.part import ChannelPart
from defenses.base.queries.query import plain_entry
from metrics.columns import CategoricalDomain, NumericDomain, errors_at, refuse, refuse_any, require

# Annotations of the parts' fields: the types in a channel file, and their names in messages.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "float": (float, int),
    "int": (int,),
    "bool": (bool,),
    "Domain": (NumericDomain, CategoricalDomain),
}
_NAMES = {
    "str": "text",
    "float": "a number",
    "int": "an integer",
    "bool": "true or false",
    "Domain": "a table with low and high, or with categories",
}


def written_part(part: ChannelPart) -> dict[str, Any]:
    """Return the part as plain values that `read_part` reads."""
    return {"kind": part.kind, **{f.name: _plain(getattr(part, f.name)) for f in fields(part)}}


def read_part(content: dict[str, Any], number: int) -> ChannelPart:
    """Read one part of a channel file.

    - content: The part's table; its key ``kind`` is removed.
    - number: Position of the part in the file, from 1 on, for error messages.

    Raises ValueError if the kind is unknown, or a field is unknown, missing or of another type.
    """
    kinds = _kinds()
    kind = content.pop("kind", None)
    refuse(kind not in kinds, f"part {number} of the channel has kind {kind!r}; known are {', '.join(sorted(kinds))}")
    types = {f.name: str(f.type) for f in fields(kinds[kind])}
    where = f"part {number} of the channel ({kind})"
    refuse_any(
        sorted(set(content) ^ set(types)),
        lambda wrong: f"{where}: {'unknown' if wrong in content else 'no'} field {wrong!r}",
    )
    with errors_at(where, (TypeError, ValueError)):
        values = {name: _rich(value) for name, value in content.items()}
    refuse_any(
        [name for name, value in values.items() if not is_a(value, types[name])],
        lambda name: f"{where}: field {name!r} must be {_NAMES.get(types[name], 'a list')}",
    )
    return kinds[kind](**values)


def is_a(value: Any, annotation: str) -> bool:
    """Return whether a value read from TOML has the type that the annotation of a part's field names."""
    if annotation.startswith("tuple["):
        element = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return isinstance(value, tuple) and all(is_a(item, element) for item in value)
    if isinstance(value, bool):
        return annotation == "bool"
    return isinstance(value, _TYPES[annotation])


def _plain(value: Any) -> Any:
    if isinstance(value, NumericDomain):
        inferred = {"inferred": True} if value.inferred else {}
        return {"low": value.low, "high": value.high, "integer": value.integer, "cuts": list(value.cuts), **inferred}
    if isinstance(value, CategoricalDomain):
        inferred = {"inferred": True} if value.inferred else {}
        return {"categories": list(value.categories), "ordered": value.ordered, **inferred}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else plain_entry(value)


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        require(isinstance(value.get("categories", []), list), "categories must be a list")
        return CategoricalDomain(**value) if "categories" in value else NumericDomain(**value)
    return tuple(_rich(item) for item in value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _kinds(base: type[ChannelPart] = ChannelPart) -> dict[str, type[ChannelPart]]:
    """Kinds of channel parts by name: those of a class and of its subclasses."""
    kinds = {base.kind: base} if hasattr(base, "kind") else {}
    for child in base.__subclasses__():
        kinds.update(_kinds(child))
    return kinds
