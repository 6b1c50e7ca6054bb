"""Checks of the built pages: links that lead nowhere, requests to other hosts, and words that the search misses."""

import functools
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from japanese_words import names, query_terms

LOADING = {"img", "script", "source", "iframe", "audio", "video", "embed", "object", "image", "use"}
"""Elements that load what their `src`, `href` or `data` names; `link` loads unless it is only a relation."""
RELATIONS = {"next", "prev", "search", "index", "canonical", "author", "alternate"}


class PageReader(HTMLParser):
    """Anchors, links and loaded addresses of one page.

    Attributes
    ----------
    anchors : set of str
        Ids and names in the page.
    links : list of str
        Targets of `a` elements.
    loaded : list of str
        Addresses that the browser requests in order to show the page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what one element refers to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        address = values.get("src") or values.get("href") or values.get("xlink:href") or values.get("data") or ""
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif (tag in LOADING and address) or (tag == "link" and not RELATIONS & set(values.get("rel", "").split())):
            self.loaded.append(address)
        self.loaded += re.findall(r"url\(\s*['\"]?([^'\")]+)", values.get("style", ""))


def read(page: Path) -> PageReader:
    """Read one page."""
    reader = PageReader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def is_outside(address: str) -> bool:
    """Whether an address names another host."""
    return bool(urlsplit(address).netloc)


def file_at(folder: Path, address: str) -> Path | None:
    """The file at an address that is relative to a folder, if there is one."""
    path = (folder / unquote(address)).resolve()
    return path if path.is_file() else None


def faults(folder: Path) -> list[str]:
    """Faults of all pages and style sheets in a folder.

    Parameters
    ----------
    folder : Path
        Root of the built site.

    Returns
    -------
    list of str
        One line each: links that lead nowhere, requests to other hosts, and Japanese terms of the glossary that the
        search does not find there.
    """
    folder = folder.resolve()
    pages = {page: read(page) for page in sorted(folder.rglob("*.html"))}
    # Each page has links to all others, which are the same for all pages of a folder.
    resolved = functools.cache(file_at)
    results = []
    for page, reader in pages.items():
        name = page.relative_to(folder)
        results += [f"{name}: loads {one} from another host" for one in reader.loaded if is_outside(one)]
        local = [one for one in reader.loaded if not is_outside(one) and not one.startswith(("data:", "#"))]
        for link in [*reader.links, *local]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = resolved(page.parent, parts.path) if parts.path else page
            if target is None:
                results.append(f"{name}: the link {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                results.append(f"{name}: the link {link} names no anchor of that page")
    for sheet in sorted(folder.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(\s*['\"]?|@import\s+['\"])([^'\")]+)", text)
        results += [
            f"{sheet.relative_to(folder)}: loads {one} from another host" for one in addresses if is_outside(one)
        ]
    return results + missed_terms(folder / "ja")


def _text(path: Path) -> str:
    """Text of a file; empty if there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def missed_terms(folder: Path) -> list[str]:
    """Terms of the Japanese glossary that the search index does not lead to the glossary, one line each.

    Parameters
    ----------
    folder : Path
        Root of the Japanese pages. Without a glossary, nothing is missed.
    """
    glossary = folder / "glossary.html"
    if not glossary.exists():
        return []
    cells = re.findall(r"<td><p><strong>(.*?)</strong>", glossary.read_text(encoding="utf-8"))
    script = (folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script[script.index("{") : script.rindex("}") + 1])
    page = index["docnames"].index("glossary")

    def is_found(term: str) -> bool:
        pages = [index[kind].get(term.lower(), []) for kind in ("terms", "titleterms")]
        return any(page in ([found] if isinstance(found, int) else found) for found in pages)

    listed = re.search(r"const glossaryTerms = (\[.*\]);", _text(folder / "_static" / "language_data.js"))
    rows = json.loads(listed[1]) if listed else []
    known = {name for _, _, names_of_row in rows for name in names_of_row}
    terms = [name for cell in cells for name in names(html.unescape(re.sub(r"<[^>]+>", "", cell)))]
    missed = [name for name in terms if name not in known or not all(map(is_found, query_terms(name)))]
    results = [f"ja/glossary.html: the search does not find {name}" for name in missed]
    return results if terms else ["ja/glossary.html: no terms were found"]
