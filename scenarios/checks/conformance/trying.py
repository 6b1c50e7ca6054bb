"""Releases of a defense under test."""

from __future__ import annotations

from defenses import Defense, Microdata, MicrodataRelease
from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.invented_people import example
from scenarios.tables.seeds import generator


def release_of(
    method: type[Defense], records: Microdata, *names: str | int, defense: Defense | None = None
) -> MicrodataRelease:
    """Check the records and release them, as a run does.

    Parameters
    ----------
    method : type of Defense
        The class under test.
    records : Microdata
        Invented people.
    *names : str or int
        Names of which the seed is made.
    defense : Defense, optional
        The instance; by default a new example of the class.

    Raises
    ------
    AssertionError
        If `apply` returns no table.
    """
    defense = defense or example(method)
    defense.check(records)
    release = defense.apply(records, generator(0, *names))
    if not isinstance(release, MicrodataRelease):
        got = "None" if release is None else type(release).__name__
        right = "apply must return a MicrodataRelease, e.g. rowwise_release(frame, channel=None)"
        raise AssertionError(f"{right}; got {got}{defined_at(method.apply)}")
    return release
