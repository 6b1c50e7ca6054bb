"""Tables for tests of linkability and singling out."""

import pandas as pd

from defenses import Microdata


def people(count, rng):
    frame = pd.DataFrame({name: rng.random(count).round(6) for name in ("p", "q", "r", "s")})
    return Microdata(frame, quasi_identifiers=tuple(frame.columns))
