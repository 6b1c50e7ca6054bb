"""Source code without docstrings and comments."""

import pytest

from scenarios.running.methods.fingerprint import normalized_source

CODE = '''
"""A module."""

import numpy as np  # numbers

LIMIT = 3
"""How many."""


# A comment.
class Noise:
    """Adds noise.

    It is `é` long.
    """

    def draw(self, rng):
        """Draw."""
        return rng.normal() * LIMIT


def text():
    return """
# not a comment

"""
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another docstring\n\nof several lines."""'),
        ('"""How many."""', '"""At most."""'),
        ("# A comment.\n", ""),
        ("It is `é` long.", "It is `ü` short."),
        ('        """Draw."""\n', ""),
        ("\n\n\n# A comment", "\n# A comment"),
        ("\n", "\r\n"),
    ],
)
def test_words_are_left_out(old, new):
    assert old in CODE
    assert normalized_source(CODE.replace(old, new)) == normalized_source(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("# not a comment", "# another text"),
        ("# not a comment\n", ""),
        ("a comment\n\n", "a comment\n"),
        ("rng.normal()", "rng.laplace()"),
        ("    def draw", "    @staticmethod\n    def draw"),
        ('"""How many."""', '"""How many."""; LIMIT = 5'),
        ('"""Draw."""', '"""Draw."""; rng = None'),
    ],
)
def test_code_and_texts_in_it_stay(old, new):
    assert old in CODE
    assert normalized_source(CODE.replace(old, new)) != normalized_source(CODE)


def test_the_code_runs_alike():
    spaces = [{}, {}]
    for space, source in zip(spaces, (CODE, normalized_source(CODE)), strict=True):
        exec(source, space)
    assert spaces[0]["text"]() == spaces[1]["text"]() == "\n# not a comment\n\n"
    assert spaces[0]["LIMIT"] == spaces[1]["LIMIT"]
