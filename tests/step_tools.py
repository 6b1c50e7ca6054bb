"""How much Python a call runs: the same number on a quiet and on a busy machine."""

import sys


def steps(function, *arguments, **options):
    """Number of lines of Python that a call runs in this thread; a line that loops counts once in each turn."""
    count, before = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        function(*arguments, **options)
    finally:
        sys.settrace(before)
    return count
