"""Delta-disclosure and beta-likeness."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from metrics import beta_likeness, delta_disclosure, enhanced_beta_likeness, equivalence_classes


def test_gains_about_sensitive_values() -> None:
    # The table has x, y as 5/8 and 3/8, class a as 3/4 and 1/4, class b as 1/2 each.
    frame = pd.DataFrame({"q": list("aaaabbbb"), "s": list("xxxyxxyy")})
    assert delta_disclosure(frame, ["q"], "s") == pytest.approx(np.log(3 / 2))
    assert beta_likeness(frame, ["q"], "s") == pytest.approx(1 / 3)
    assert enhanced_beta_likeness(frame, ["q"], "s") == pytest.approx(1 / 3)
    classes = equivalence_classes(frame, ["q"])
    assert delta_disclosure(frame, ["q"], "s", classes=classes) == delta_disclosure(frame, ["q"], "s")
    # A class without y is infinitely far from the table; its share of x grows by 3/5, more than -ln(5/8) = 0.47.
    pure = pd.DataFrame({"q": list("aaaabbbb"), "s": list("xxxxxyyy")})
    assert delta_disclosure(pure, ["q"], "s") == np.inf
    assert beta_likeness(pure, ["q"], "s") == pytest.approx(1.0)
    assert enhanced_beta_likeness(pure, ["q"], "s") == np.inf
    constant = frame.assign(s="x")
    for measure in (delta_disclosure, beta_likeness, enhanced_beta_likeness):
        assert measure(constant, ["q"], "s") == 0
        with pytest.raises(ValueError, match="'q' is a quasi-identifier"):
            measure(frame, ["q"], "q")
        with pytest.raises(ValueError, match="no rows"):
            measure(frame.iloc[:0], ["q"], "s")
