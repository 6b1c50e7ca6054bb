"""All report attacks: misfits and missing knowledge."""

import numpy as np
import pytest

from attacks import Knowledge, LongitudinalAveraging, NotApplicable, PoolInference, ValueGuess
from defenses import Identity, LocalReports, Microdata, ReportsRelease
from scenarios import play
from scenarios.tables.seeds import generator


def test_misfits_are_said(report_game):
    with pytest.raises(NotApplicable, match="needs a reports release"):
        play(Identity(), ValueGuess(), report_game, generator(1, "play"))
    with pytest.raises(NotApplicable, match="about value"):
        play(LocalReports(), PoolInference(), report_game, generator(1, "play"))


def test_attacks_say_what_they_lack(report_game):
    secret = report_game.draw(np.random.default_rng(0))
    knowledge = report_game.knowledge(secret, LocalReports())
    rng = np.random.default_rng(0)
    release = LocalReports().apply(secret.records, rng)
    for attack in (ValueGuess(), LongitudinalAveraging()):
        with pytest.raises(NotApplicable, match="likelihood"):
            attack.run(ReportsRelease(release.reports, object()), knowledge, rng)
        with pytest.raises(NotApplicable, match="no report"):
            attack.run(ReportsRelease((), release.protocol), knowledge, rng)
        with pytest.raises(NotApplicable, match="which column"):
            attack.run(release, Knowledge(knowledge.candidates, Microdata(secret.records.frame)), rng)
    with pytest.raises(NotApplicable, match="several reports"):
        PoolInference().run(release, knowledge, rng)
    with pytest.raises(NotApplicable, match="which column"):
        PoolInference().run(release, Knowledge(knowledge.candidates, Microdata(secret.records.frame)), rng)
