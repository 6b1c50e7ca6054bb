"""Words of the command line in messages, and what pages say instead."""

from __future__ import annotations

_OPTIONS = {
    "--reason: ": "reason: ",
    "; --early closes it now": "; tick the box to close it now",
    "--until must be later": "name a later end",
    "`reopen` opens it again": "reopen it instead",
    "; `reopen` the phase to": "; reopen the phase to",
    "(`extend` and `reopen` move deadlines)": "(forms on this page move deadlines)",
    "`extend` moves its end": "extend it instead",
}


def without_options(message: str) -> str:
    """A message of a command in the words of a page, which has no options."""
    for words, instead in _OPTIONS.items():
        message = message.replace(words, instead)
    return message
