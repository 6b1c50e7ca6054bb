"""Pictures in the guides: small, and shown in both languages with a text for those who do not see them."""

import re
from pathlib import Path

import pytest
from PIL import Image

SITE = Path(__file__).parents[2] / "docs" / "site"
LARGEST = 150_000
SHOWN = re.compile(r"!\[([^\n]*)\]\(([^)\s]+\.png)\)")


def shown_pictures(language):
    """Text of each picture that the guides of a language show, by the picture's path."""
    return {
        (page.parent / address).resolve(): text
        for page in sorted((SITE / language).rglob("*.md"))
        for text, address in SHOWN.findall(page.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_picture_is_shown_with_a_text(language):
    shown = shown_pictures(language)
    assert set(shown) == set((SITE / "pictures").glob("*.png"))
    assert all(len(text) > 20 for text in shown.values())
    assert len(set(shown.values())) == len(shown)


def test_pictures_are_small_and_not_blank():
    paths = sorted((SITE / "pictures").glob("*.png"))
    assert len(paths) >= 6
    for path in paths:
        assert path.stat().st_size < LARGEST, path.name
        with Image.open(path) as picture:
            assert picture.width <= 1280
            assert len(picture.convert("RGB").getcolors(100_000)) > 10, path.name
