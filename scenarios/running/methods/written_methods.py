"""Methods and their parameters as users write them: ``Mondrian k=5``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from metrics.columns import require
from scenarios.running.methods.methods import check_parameter_names, find

# Numbers are printed without the zero before the point; TOML wants it.
_POINT = re.compile(r"^(\s*[-+]?)(?=\.\d)")
# A list of words without quotes, which a shell may have removed.
_UNQUOTED = re.compile(r"""\[\s*[^][{}()"'=\s][^][{}()"'=]*\]""")
# What looks like a TOML table; it is none where its words lack quotes.
_TABLE = re.compile(r"\{\s*[\w-]+\s*=.*\}", re.DOTALL)
_TRUTHS = {"True": True, "False": False}


def written_method(text: str, *packages: str) -> dict[str, Any]:
    """Name and parameters of a method written as boards show it, as ``methods.build`` takes them.

    Parameters
    ----------
    text : str
        Name, or ``module:Class``, and parameters as NAME=VALUE with spaces between them.
    *packages : {"defenses", "attacks"}
        Kinds that the method may have.

    Raises
    ------
    ValueError
        If there is no such method, or a parameter is no NAME=VALUE or unknown; the message names the parameters.

    Examples
    --------
    >>> written_method("Mondrian k=3", "defenses")
    {'use': 'Mondrian', 'k': 3}
    """
    name, *texts = [*_words(text)] or [""]
    accepted = find(name, *packages).parameter_names()
    try:
        given = given_parameters(texts, option="")
        check_parameter_names(name, given, accepted)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}. Parameters of {name}: {', '.join(accepted) or 'none'}") from None
    return {"use": name, **given}


def _words(text: str) -> Iterator[str]:
    """Words of a text, apart at spaces outside of quotes and brackets."""
    word, quote, depth = "", "", 0
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        if letter.isspace() and not quote and depth <= 0:
            if word:
                yield word
            word = ""
        else:
            word += letter
    if word:
        yield word


def given_parameters(texts: Sequence[str], option: str = "-p ") -> dict[str, Any]:
    """Parameters given as NAME=VALUE. A value is TOML, or plain text where it is no TOML.

    What boards print is read, too: .2 as a number, True and False as truths.

    Parameters
    ----------
    texts : sequence of str
        The parameters.
    option : str
        What precedes each of them on the command line, for messages.

    Raises
    ------
    ValueError
        If a text has no name or no equals sign, a name is given twice, or a list holds a word without quotes.

    Examples
    --------
    >>> given_parameters(("k=5", "t=.2", "columns=['age', 'job']", "protocol=RAPPOR"))
    {'k': 5, 't': 0.2, 'columns': ['age', 'job'], 'protocol': 'RAPPOR'}
    """
    parameters: dict[str, Any] = {}
    # An option stands before quotes of its own; without one, the quotes are around the method.
    quote = "'" if option else ""
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        require(
            equals and name, f"{option}must be NAME=VALUE, got {text!r}" if option else f"{text!r} must be NAME=VALUE"
        )
        require(name not in parameters, f"parameter {name!r} is given twice")
        if value.strip() in _TRUTHS:
            parameters[name] = _TRUTHS[value.strip()]
            continue
        try:
            parameters[name] = tomllib.loads("value = " + _POINT.sub(r"\g<1>0", value))["value"]
        except tomllib.TOMLDecodeError:
            if _UNQUOTED.fullmatch(value.strip()):
                words = ", ".join(_quoted(word.strip()) for word in value.strip()[1:-1].split(","))
                raise ValueError(
                    f"{option}{name}: words in a list need double quotes, and the whole single quotes: "
                    f"{option}{quote}{name}=[{words}]{quote}"
                ) from None
            if _TABLE.fullmatch(value.strip()):
                raise ValueError(
                    f"{option}{name}: {value.strip()} is no TOML table; words in it need double quotes, and the whole "
                    f'single quotes, as in {option}{quote}{name}={{use="Mondrian", k=5}}{quote}'
                ) from None
            parameters[name] = value
    return parameters


def _quoted(entry: str) -> str:
    """An entry of a list as TOML: in double quotes unless it is a number or a truth."""
    try:
        tomllib.loads(f"value = {entry}")
    except tomllib.TOMLDecodeError:
        return f'"{entry}"'
    return entry
