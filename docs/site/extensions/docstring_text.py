"""Text of docstrings as reStructuredText: links for names, lists of references, folded notes."""

import builtins
import importlib
import inspect
import keyword
import logging
import re

import catalog

# Sphinx counts what is logged below its name.
LOG = logging.getLogger("sphinx.tokumei.docstrings")
SINGLE = re.compile(r"(?<![`:\w])`([^`\n]+)`(?![`_])")
IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
LITERAL = re.compile(r"(``.+?``)")


def rest(text: str, thing: object = None) -> str:
    """Text of a docstring as reStructuredText: backticks become links or literals, and bars are no substitutions.

    Parameters
    ----------
    text : str
        One or several lines.
    thing : object, optional
        What the docstring belongs to; its parameters may be named.
    """
    parts = LITERAL.split(text)
    return "".join(part if part.startswith("``") else _plain(part, thing) for part in parts)


def _plain(text: str, thing: object) -> str:
    made = []
    for number, part in enumerate(SINGLE.split(text)):
        if number % 2:
            made.append(reference(part, thing))
        else:
            part = re.sub(r"(?<!\\)\|", r"\\|", part)
            part = re.sub(r"(?<![\\*\w])\*(?=\S)", r"\\*", part)
            made.append(re.sub(r"(?<=\w)_(?=[\W]|$)", r"\\_", part))
    return "".join(made)


def reference(name: str, thing: object) -> str:
    """A link to a documented name, or a literal; warns if the project defines no such name."""
    bare = name.removesuffix("()")
    if bare in _parameters(thing):
        return f"``{name}``"
    documented = catalog.paths()
    if bare in documented:
        return f":py:obj:`{name} <{documented[bare]}>`"
    if bare in documented.values():
        return f":py:obj:`{name} <{bare}>`"
    if bare in catalog.API_PACKAGES:
        return f":doc:`{name} </api/{bare}>`"
    first, _, member = bare.partition(".")
    if first in documented and member and not hasattr(getattr(_home(first), first, None), member):
        LOG.warning("docstring of %s: %s has no %s", _label(thing), first, member)
    if IDENTIFIER.fullmatch(name) and not _is_defined(bare, thing):
        LOG.warning("docstring of %s: `%s` names nothing", _label(thing), name)
    return f"``{name}``"


def _home(name: str) -> object:
    return importlib.import_module(catalog.home(name) or "builtins")


def _label(thing: object) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"


def _is_defined(name: str, thing: object) -> bool:
    """Whether a name is a parameter, defined in the project, a builtin, or imported by the module of the docstring."""
    parts = name.split(".")
    scenario_names = {entry.name for kind in ("datasets", "scenarios") for entry in catalog.entries()[kind]}
    if parts[-1] in catalog.defined_names() or name in scenario_names:
        return True
    if hasattr(builtins, parts[0]) or keyword.iskeyword(parts[0]) or hasattr(thing, parts[0]):
        return True
    module = inspect.getmodule(thing)
    if module is not None and hasattr(module, parts[0]):
        return True
    return parts[0] in _parameters(thing)


def _parameters(thing: object) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(thing).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return frozenset()


def prepared(lines: list[str], thing: object) -> list[str]:
    """Lines of a docstring for numpydoc: names in backticks become links or literals, references a list.

    Parameters
    ----------
    lines : list of str
        Lines of the docstring.
    thing : object
        What it belongs to.
    """
    made, section, in_literal, in_table = [], "", False, False
    for number, line in enumerate(lines):
        if number + 1 < len(lines) and re.fullmatch(r"\s*-{3,}", lines[number + 1]):
            section = line.strip()
        in_literal = (in_literal and (not line.strip() or line.startswith("    "))) or (
            number > 1 and lines[number - 2].rstrip().endswith("::") and not lines[number - 1].strip()
        )
        is_ruler = bool(re.fullmatch(r"\s*=+(?: +=+)+", line))
        in_table = bool(line.strip()) and (in_table or is_ruler)
        is_code = in_literal or (
            section == "Examples" and (line.startswith((">>>", "...")) or _is_shown(lines, number))
        )
        if in_table:
            # Columns of a table must keep their width.
            made.append(re.sub(r"`+([^`]+)`+", lambda match: match[1].ljust(len(match[0])), line))
        else:
            made.append(line if is_code else rest(line, thing))
    return _listed_references(made)


def _is_shown(lines: list[str], number: int) -> bool:
    """Whether a line is the output of an example: it follows an example's line without an empty line in between."""
    while number > 0 and lines[number].strip():
        number -= 1
        if lines[number].startswith((">>>", "...")):
            return True
    return False


def _listed_references(lines: list[str]) -> list[str]:
    """The lines of the section References as list items; an item ends with a full stop, semicolon or bracket."""
    made, inside, is_new = [], False, True
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", line) or re.fullmatch(r"-{3,}", following):
            inside = lines[number - 1].strip() == "References" if line.startswith("-") else False
            is_new = True
            made.append(line)
        elif inside and line.strip():
            made.append(f"- {line}" if is_new else f"  {line}")
            is_new = line.rstrip()[-1] in ".;)"
        else:
            is_new = is_new or not line.strip()
            made.append(line)
    return made


def folded(lines: list[str]) -> list[str]:
    """Lines of numpydoc with the notes folded; a paragraph on the guarantee stays open."""
    # Attributes have no entry of their own that numpydoc could link to.
    lines = [re.sub(r"(?<!py):obj:`([^<`]+?)(?: <[^>]*>)?`", r"``\1``", line) for line in lines]
    # The names of a section See Also are those of the package.
    lines = [re.sub(r":py:obj:`(\w+)`", lambda match: reference(match[1], None), line) for line in lines]
    start = next((i for i, line in enumerate(lines) if line.strip() == ".. rubric:: Notes"), None)
    if start is None:
        return lines
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith(".. rubric::")), len(lines))
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines[start + 1 : end]).strip("\n"))
    is_open = [bool(re.match(r"(Guarantee|Reads before its noise)\b", one)) for one in paragraphs]
    open_text = "\n\n".join(one for one, keep in zip(paragraphs, is_open, strict=True) if keep)
    folded_text = "\n\n".join(one for one, keep in zip(paragraphs, is_open, strict=True) if not keep)
    result = [".. rubric:: Guarantee", "", *open_text.split("\n")] if open_text else []
    if folded_text:
        body = [f"   {line}" if line else "" for line in folded_text.split("\n")]
        result += ["", ".. folded:: Notes, derivations and proofs", "", *body]
    return [*lines[:start], *result, "", *lines[end:]]
