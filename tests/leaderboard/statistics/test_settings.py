"""Settings of defenses as points of a picture."""

from typing import Any

from leaderboard import Result, exposures, rank
from leaderboard.statistics.settings import best_within, settings_of
from metrics import Score


def played(k: int, utility: float, rate: float, **rest: Any) -> list[Result]:
    common: dict[str, Any] = {"scenario": "bank", "defense": "Mondrian", "parameters": {"k": k}, "play": 0}
    scores = {
        "membership": Score("membership", rate, 0.5, 10_000),
        "attribute": Score("attribute", 0.5, 0.5, 10_000),
    }
    return [
        Result(key=f"r{k}", values={"marginals": utility}, **common),
        Result(key=f"t{k}", attack="Homer", scores=scores, **common),
        *([Result(key=f"f{k}", attack="Broken", **rest, **common)] if rest else []),
    ]


def test_settings_point_to_their_rows_and_bound_the_advantage() -> None:
    results = played(2, 0.9, 0.9) + played(5, 0.6, 0.6)
    rows = rank(results)
    settings = settings_of(rows, exposures(results))
    assert {one.name for one in settings} == {"Mondrian k=2", "Mondrian k=5"}
    for one in settings:
        assert rows[one.position].parameters == {"k": int(one.name[-1])}
        assert 0 <= one.advantage <= one.upper
        assert one.attack == "Homer"
    assert all(one.advantage == 0 for one in settings_of(rows, exposures(results), "attribute"))
    assert settings_of(rows, exposures(results), "linkability") == []
    assert settings_of([], exposures(results)) == []


def test_a_setting_with_a_failure_is_never_the_best() -> None:
    results = played(2, 0.9, 0.5, status="error", reason="out of luck") + played(5, 0.6, 0.5)
    settings = settings_of(rank(results), exposures(results))
    assert {one.name: one.failures for one in settings} == {"Mondrian k=2": 1, "Mondrian k=5": 0}
    best = best_within(settings, 0.1)
    assert best is not None
    assert best.name == "Mondrian k=5"
