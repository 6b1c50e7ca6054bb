"""Warnings to users become texts; others are shown as usual."""

import warnings

import pytest

from scenarios.tables.user_warnings import user_warnings


def texts_of(block):
    with user_warnings() as texts:
        block()
    return texts


def warn():
    for _ in range(2):
        warnings.warn("few people,\nand \x1b[31mred", UserWarning, stacklevel=1)
    warnings.warn("division", RuntimeWarning, stacklevel=1)


def test_each_text_is_collected_once_and_others_are_shown():
    with pytest.warns(RuntimeWarning, match="division"):
        texts = texts_of(warn)
    assert texts == ["few people, and \\x1b[31mred"]


def test_texts_are_kept_when_the_block_fails():
    block = user_warnings()
    texts = block.__enter__()
    warnings.warn("few people", UserWarning, stacklevel=1)
    assert not block.__exit__(ValueError, ValueError("failed"), None)
    assert texts == ["few people"]
