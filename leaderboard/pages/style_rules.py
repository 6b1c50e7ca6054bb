"""Style sheet of a page as attributes of SVG elements, so that a picture needs no page around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

PROPERTIES = (
    *("fill", "stroke", "font-size", "font-weight", "fill-opacity", "stroke-opacity", "opacity"),
    *("stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "paint-order", "display"),
)
"""Properties of the style sheet that are attributes of SVG."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMPOUND = re.compile(r"(?P<tag>[a-z][\w-]*)?(?P<rest>(?:\.[\w-]+|:not\(\.[\w-]+\))*)")
_PART = re.compile(r":not\(\.([\w-]+)\)|\.([\w-]+)")
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_BY_THEME = re.compile(r"light-dark\(([^(),]*),[^(),]*\)")


class Compound(NamedTuple):
    """What a selector asks of one element: its tag if given, classes that it has, and classes that it has not."""

    tag: str
    classes: frozenset[str]
    absent: frozenset[str]

    def fits(self, element: Element) -> bool:
        """Whether the element is so."""
        own = set(element.get("class", "").split())
        return self.tag in ("", element.tag) and self.classes <= own and not self.absent & own


@dataclass(frozen=True)
class Rule:
    """A selector of descendants with its declarations.

    Parameters
    ----------
    path : tuple of Compound
        What is asked of ancestors, and last of the element itself.
    declarations : dict of str
        Values by property or variable.
    order : int
        Its place in the style sheet.
    """

    path: tuple[Compound, ...]
    declarations: Mapping[str, str]
    order: int

    @property
    def weight(self) -> tuple[int, int, int]:
        """Specificity, then order: of two rules the heavier one holds."""
        classes = sum(len(one.classes) + len(one.absent) for one in self.path)
        return classes, sum(bool(one.tag) for one in self.path), self.order

    def fits(self, ancestors: Sequence[Element], element: Element) -> bool:
        """Whether the selector matches an element below its ancestors, outermost first."""
        *above, last = self.path
        if not last.fits(element):
            return False
        remaining = list(ancestors)
        for compound in reversed(above):
            while remaining and not compound.fits(remaining[-1]):
                remaining.pop()
            if not remaining:
                return False
            remaining.pop()
        return True


def light_rules(sheet: str) -> tuple[list[Rule], dict[str, str]]:
    """Rules of a style sheet in its light theme, and the variables of ``:root``.

    Rules for print, other themes and narrow screens are left out. So are selectors of what a reader does (``:hover``),
    and all that consist of more than classes, tags and ``:not(.class)``.

    Examples
    --------
    >>> rules, variables = light_rules(":root { --ink: #111; } .axis line, a:hover { stroke: var(--ink); }")
    >>> len(rules), variables
    (1, {'--ink': '#111'})
    """
    rules: list[Rule] = []
    variables: dict[str, str] = {}
    for selectors, body in _RULE.findall(_without_conditions(_COMMENT.sub("", sheet))):
        declarations = dict(_declarations(body))
        for selector in selectors.split(","):
            if selector.strip() == ":root":
                variables |= declarations
            elif (path := _path(selector)) is not None:
                rules.append(Rule(path, declarations, len(rules)))
    return rules, variables


def style(element: Element, ancestors: Sequence[Element], rules: Sequence[Rule], variables: Mapping[str, str]) -> None:
    """Give an element and all below it the attributes that the rules set; classes and variables are resolved.

    Parameters
    ----------
    element : Element
        The element, which is changed.
    ancestors : sequence of Element
        Elements around it, outermost first.
    rules : sequence of Rule
        Rules of the page.
    variables : mapping of str
        Variables that it inherits.
    """
    declared = _declared(element, ancestors, rules)
    variables = {**variables, **_variables(declared)}
    for name in PROPERTIES:
        if name in declared:
            element.set(name, resolved(declared[name], variables))
    for child in element:
        style(child, [*ancestors, element], rules, variables)


def inherited(elements: Sequence[Element], rules: Sequence[Rule], variables: Mapping[str, str]) -> dict[str, str]:
    """Variables inside the last of nested elements, outermost first."""
    inside = dict(variables)
    for number, element in enumerate(elements):
        inside |= _variables(_declared(element, elements[:number], rules))
    return inside


def _declared(element: Element, ancestors: Sequence[Element], rules: Sequence[Rule]) -> dict[str, str]:
    """What the rules say of an element; of two rules the heavier one holds."""
    declared: dict[str, str] = {}
    for rule in sorted((rule for rule in rules if rule.fits(ancestors, element)), key=lambda rule: rule.weight):
        declared |= rule.declarations
    return declared


def _variables(declared: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in declared.items() if name.startswith("--")}


def resolved(value: str, variables: Mapping[str, str]) -> str:
    """A value without variables, in the light theme."""
    for _ in range(len(variables) + 1):
        if not (match := _VARIABLE.search(value)):
            break
        value = value.replace(match[0], variables.get(match[1], "currentColor"))
    return _BY_THEME.sub(r"\1", value).strip()


def _declarations(body: str) -> Iterator[tuple[str, str]]:
    for declaration in body.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), value.replace("!important", "").strip()


def _path(selector: str) -> tuple[Compound, ...] | None:
    """Compounds of a selector; None if it has other parts."""
    compounds = []
    for text in selector.split():
        match = _COMPOUND.fullmatch(text)
        if match is None:
            return None
        parts = _PART.findall(match["rest"])
        classes = frozenset(name for _, name in parts if name)
        compounds.append(Compound(match["tag"] or "", classes, frozenset(name for name, _ in parts if name)))
    return tuple(compounds) or None


def _without_conditions(sheet: str) -> str:
    """A style sheet without its at-rules, such as those for print or narrow screens."""
    outside, start = [], 0
    while (at := sheet.find("@", start)) >= 0:
        outside.append(sheet[start:at])
        depth, end = 0, sheet.find("{", at)
        while 0 <= end < len(sheet):
            depth += {"{": 1, "}": -1}.get(sheet[end], 0)
            end += 1
            if depth == 0:
                break
        start = end if end > 0 else len(sheet)
    return "".join([*outside, sheet[start:]])
