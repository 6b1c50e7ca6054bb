"""Notes on what guarantees cover."""

from dataclasses import replace

import pytest

from defenses import Guarantee
from scenarios.running.plan import NamedMethod, read_plan
from scenarios.running.runner import guarantee_notes, guarantees


@pytest.mark.thorough
def test_each_family_says_once_what_it_covers():
    plan = read_plan("bank")
    notes = guarantee_notes(plan, guarantees(plan))
    families = [note.split()[0] for note in notes]
    assert len(families) == len(set(families))
    [mondrian] = [note for note in notes if note.startswith("Mondrian ")]
    assert mondrian.startswith("Mondrian guarantees k=")
    assert "-anonymity over age, job" in mondrian
    assert not any(note.startswith("Identity") for note in notes)


def test_no_guarantee_says_why():
    plan = replace(read_plan("bank"), defenses=(NamedMethod("AdditiveNoise", None, {}),))
    note = guarantee_notes(plan, [Guarantee(statement="none: the noise is scaled by the records")])
    assert note == ["AdditiveNoise guarantees nothing: the noise is scaled by the records"]
