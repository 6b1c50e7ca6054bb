"""The known name that is nearest to an unknown one, for messages."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The most similar known name, whatever its case, or None if none is similar.

    Examples
    --------
    >>> nearest_name("mondrain", ["Identity", "Mondrian"])
    'Mondrian'
    """
    import difflib

    lowered = {other.lower(): other for other in known}
    containing = [other for other in lowered if len(name) > 3 and name.lower() in other]
    if containing:
        return lowered[min(containing, key=len)]
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    return lowered[near[0]] if near else None
