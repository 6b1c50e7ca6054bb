"""The unchanged release."""

import pandas as pd
from defense_tools import apply, people

from defenses.base.defense import released_frame
from defenses.perturbation.identity import Identity


def test_identity_releases_what_it_holds():
    records = people()
    release = apply(Identity(), records)
    pd.testing.assert_frame_equal(release.frame, released_frame(records))
    assert release.channel.parts == ()
