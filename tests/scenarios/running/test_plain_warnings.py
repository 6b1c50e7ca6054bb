"""Warnings of methods are one line each; other warnings keep Python's form."""

import warnings

from scenarios.running.plain_warnings import plain_warnings


def test_a_warning_of_a_method_is_one_line_and_is_said_once(capsys):
    others = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *place, **options: others.append((category, str(message)))
        plain_warnings()
        for _ in range(3):
            warnings.warn("epsilon is too small,\nand \x1b[31mred", stacklevel=1)
        warnings.warn("other", stacklevel=1)
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["warning: epsilon is too small, and \\x1b[31mred", "warning: other"]
    assert others == [(RuntimeWarning, "overflow")]
