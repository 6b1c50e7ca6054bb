"""Small tables for tests."""

import pandas as pd

from defenses import Microdata


def table(domains=None, **columns):
    """Microdata of these columns, all of them quasi-identifiers."""
    return Microdata(pd.DataFrame(columns), quasi_identifiers=tuple(columns), domains=domains or {})
