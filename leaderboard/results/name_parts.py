"""Where a line may break inside a name that is longer than it."""

import re

_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=,)(?=.)|(?<=[_=:])(?=\w{6})")


def name_parts(name: str) -> list[str]:
    """Parts of a name, between which a line may break: at capitals, commas, and signs before six letters.

    Examples
    --------
    >>> name_parts("HadamardResponse of age")
    ['Hadamard', 'Response of age']
    >>> name_parts("protocol=UnaryEncoding k=5")
    ['protocol=', 'Unary', 'Encoding k=5']
    """
    return _BREAK.split(name)
