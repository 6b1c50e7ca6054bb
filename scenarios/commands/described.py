"""What `tokumei info` and `tokumei list` describe, by name: methods, mechanisms, metrics and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.running.methods.methods import PACKAGES, exported, metrics, named

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
    from scenarios.checks.audits.names import mechanisms

    methods = {one: method for package in PACKAGES for one, method in exported(package).items()}
    return named(name, {**metrics(), **mechanisms(), **queries(), **methods}, "nothing is named")
