"""Loss gaps of private federated learning: curves, best rounds, the fitted theory."""

import numpy as np
import pytest

from scenarios.studies.federated_curves import (
    BestRounds,
    FederatedCurves,
    Gap,
    TrainingSetting,
    best_rounds,
    fitted_bound,
    rounds_text,
)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: FederatedCurves(clients=[]), "clients"),
        (lambda: FederatedCurves(epsilon=[20.0]), "epsilon"),
        (lambda: FederatedCurves(clip=0.0), "clip"),
        (lambda: FederatedCurves(rounds=[0]), "rounds"),
    ],
)
def test_bad_settings_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.long
def test_the_gap_falls_with_ten_fifty_and_250_clients():
    curves = FederatedCurves(rounds=(20,))
    section, _ = curves.run(6, 1, lambda line: None)
    assert curves.clients == (10, 50, 250)
    assert "falls with N at 3 of 3 epsilons" in section.text[0]
    for chart in section.lines[:3]:
        measured = chart.series[0]
        assert measured.x == [10, 50, 250]
        # Ten clients against 250: by more than both intervals.
        assert measured.high[2] < measured.low[0]
    # And with epsilon, at any number of clients.
    for chart in section.lines[3:]:
        assert list(chart.series[0].y) == sorted(chart.series[0].y, reverse=True)


@pytest.mark.long
def test_the_default_grid_shows_an_inner_best_number_of_rounds():
    # The largest budget and number of clients of the default grid; 20 rounds beat 10 and 40 by more than the intervals.
    default = FederatedCurves()
    curves = FederatedCurves(clients=default.clients[-1:], epsilon=default.epsilon[-1:], rounds=default.rounds)
    _, section = curves.run(8, 1, lambda line: None)
    row = section.tables[0].rows[0]
    assert row[-2] == "20, inside"
    assert int(row[-1]) > 0


@pytest.mark.long
def test_the_curves_are_reported_and_the_gap_falls_with_clients():
    curves = FederatedCurves(dataset="bank", clients=(5, 50), records=20, epsilon=(5.0,), rounds=(4, 8))
    sections = curves.run(4, 1, lambda line: None)
    cells = [row[1] for row in sections[0].tables[0].rows]
    few, many = (float(cell.split(" ")[0]) for cell in cells)
    assert many < few
    assert "falls with N at 1 of 1" in sections[0].text[0]
    assert len(sections[1].tables) == 2
    assert sections == curves.run(4, 1, lambda line: None)


def test_best_rounds_and_the_fit_say_what_is_there():
    points = [TrainingSetting(10, rounds, 5.0) for rounds in (10, 20, 40)]
    gaps = dict(zip(points, [Gap(0.3, 0.01), Gap(0.1, 0.01), Gap(0.5, 0.01)], strict=True))
    assert best_rounds(points, gaps) == BestRounds(20, inside=True)
    assert rounds_text(best_rounds(points, gaps)) == "20, inside"
    gaps[points[0]] = Gap(0.11, 0.01)
    assert best_rounds(points, gaps) == BestRounds(20, inside=False)
    assert rounds_text(best_rounds(points, gaps)) == "20"

    def theory(point):
        left = 0.97**point.rounds
        noise = point.rounds / (100 * np.sqrt(point.clients) * point.epsilon)
        return 0.5 * left + (2 * noise + 3 * noise**2) * (1 - left)

    grid = [TrainingSetting(n, rounds, epsilon) for n in (10, 50) for rounds in (5, 20, 80) for epsilon in (1.0, 5.0)]
    bound = fitted_bound({point: Gap(theory(point), 0.01) for point in grid}, 100)
    shape = [bound.gap(point.rounds, records=100, clients=point.clients, epsilon=point.epsilon) for point in grid]
    assert shape == pytest.approx([theory(point) for point in grid], rel=0.05)
    assert min(shape) > 0
