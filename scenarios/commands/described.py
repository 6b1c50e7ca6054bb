"""What `tokumei info` and `tokumei list` describe, by name: methods, mechanisms, metrics and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.running.methods.methods import PACKAGES, class_at, exported, file_advice, metrics
from scenarios.tables.near_names import known_as, suggestion

if TYPE_CHECKING:
    from defenses.base.queries import Query


def queries() -> dict[str, type[Query]]:
    """Queries that curators answer, by class name, in the order of the language of queries."""
    from defenses.base.queries import Query
    from scenarios.assessment.asking.phrases import PHRASES

    return {name: Query.kinds[name] for name in PHRASES}


def look_up(name: str) -> object:
    """The method, mechanism, metric or query of a name, or the class that ``module:Class`` names.

    Raises ValueError if nothing has this name; the nearest name is suggested.
    """
    if ":" in name:
        return class_at(name)
    from scenarios.checks.audits.names import mechanisms

    methods = {one: method for package in PACKAGES for one, method in exported(package).items()}
    described: dict[str, object] = {**metrics(), **mechanisms(), **queries(), **methods}
    known = name if name in described else known_as(name, described) or known_as(f"{name} equal", metrics())
    if known is None:
        raise ValueError(f"nothing is named {name!r}{file_advice(name) or suggestion(name, described)}")
    return described[known]
