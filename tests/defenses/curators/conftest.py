"""What tests of curators share."""

import pytest
from query_tools import read_tables_once


@pytest.fixture(scope="module")
def tables_of_the_module_are_read_once():
    """As `tables_are_read_once`, for modules whose tests ask all queries of the same tables."""
    with pytest.MonkeyPatch.context() as patch:
        read_tables_once(patch)
        yield
