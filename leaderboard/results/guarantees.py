"""Guarantees of defenses beside their results: what each refers to, and the roles of the columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard import Result, Store, canonical

ROLES = ("quasi_identifiers", "sensitive", "unprotected", "identifiers", "left_out")
"""Roles of columns; those left out have no role, and no release holds them."""


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee:
    """What one setting of a defense guarantees, and which columns it is about.

    Parameters
    ----------
    scenario, defense : str
        Name of the scenario, and class name of the defense.
    parameters : dict
        Parameters of the defense.
    guarantee : str
        The guarantee in symbols, such as ``k=5``; ``none`` or empty if nothing is guaranteed.
    statement : str
        What the guarantee refers to, or why there is none; empty if the defense does not say.
    released : tuple of str
        The released columns in the table's order.
    roles : mapping of str to tuple of str
        Columns by role (`ROLES`).
    """

    scenario: str
    defense: str
    parameters: dict[str, Any]
    guarantee: str
    statement: str
    released: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]]

    @property
    def setting(self) -> tuple[str, str, str]:
        """Scenario, defense and parameters, as a key."""
        return self.scenario, self.defense, canonical(self.parameters)


def guarantee_name(parts: str) -> str:
    """Name of the document that holds the guarantee of a release, from the hash of the release's parts."""
    return hashlib.sha256(f"promise of {parts}".encode()).hexdigest()


def guarantee_document(statement: str, released: Sequence[str], roles: Mapping[str, Sequence[str]]) -> str:
    """JSON of a guarantee to store as a document."""
    return canonical(
        {
            "statement": statement,
            "released": list(released),
            "roles": {role: list(roles.get(role, ())) for role in ROLES},
        }
    )


def stored_guarantees(store: Store, results: Sequence[Result]) -> list[StatedGuarantee]:
    """Guarantees of the defenses among results, in the order of scenario, defense and parameters.

    Parameters
    ----------
    store : Store
        Database that holds the results. Databases of earlier versions hold no guarantees.
    results : sequence of Result
        Releases and trials.

    Raises
    ------
    ValueError
        If a guarantee was changed by others.
    """
    # After a change of code or data, the newest release counts.
    releases = {
        (result.scenario, result.defense, result.parameters_text): result
        for result in results
        if result.attack is None and result.parts and not result.is_measurement
    }
    documents = store.documents([guarantee_name(result.parts) for result in releases.values()])
    return [
        _stated(result, documents[name])
        for _, result in sorted(releases.items())
        if (name := guarantee_name(result.parts)) in documents
    ]


def _stated(result: Result, text: str) -> StatedGuarantee:
    try:
        content = json.loads(text)
        statement = str(content["statement"])
        released = tuple(map(str, content["released"]))
        roles = {role: tuple(map(str, content["roles"][role])) for role in ROLES}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"the stored guarantee of {result.defense} is damaged ({type(error).__name__})") from None
    return StatedGuarantee(
        scenario=result.scenario,
        defense=result.defense,
        parameters=result.parameters,
        guarantee=result.guarantee,
        statement=statement,
        released=released,
        roles=roles,
    )
