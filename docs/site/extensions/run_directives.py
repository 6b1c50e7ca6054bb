"""Directives that run commands and Python code, and show their real output: ``run``, ``run-file``, ``run-python``."""

import hashlib
import html
import re
from abc import ABC, abstractmethod
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from page_run import ROOT, SITE, PageRun, RunError, code_version
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.parallel import make_chunks

RUNS: dict[str, PageRun] = {}
"""The open run of each page that is being read."""
LIMIT = 1200
"""Time limit of a command in seconds; a build in the background of other work is slow."""
RUNNING = re.compile(r"^:*`*\{run|^\s*tokumei ", re.MULTILINE)
"""A directive that runs something, or a command in its body, in the source of a page."""


def open_run(app: Sphinx, page: str, source: list[str]) -> None:
    """Start a page's run; nothing happens before its first directive."""
    key = hashlib.sha256(f"{app.config.site_code_version}\0{source[0]}".encode()).hexdigest()
    record = SITE / "_build" / "runs" / app.config.language / f"{page}.json"
    RUNS[page] = PageRun(record, key)


def close_run(app: Sphinx, doctree: nodes.document) -> None:
    """End a page's run."""
    if run := RUNS.pop(app.env.docname, None):
        run.close()


def output_block(text: str) -> nodes.Node:
    """What a command printed."""
    block = nodes.literal_block(text, text, language="text")
    return nodes.container("", block, classes=["run-output"])


def shown_lines(text: str, first: int | None, last: int | None) -> str:
    """The first and last lines of a text, with the number of lines in between that are left out."""
    lines = text.split("\n")
    if first is None and last is None:
        return text
    head, tail = first or 0, last or 0
    if len(lines) <= head + tail + 1:
        return text
    return "\n".join([*lines[:head], f"... {len(lines) - head - tail} lines ...", *(lines[-tail:] if tail else [])])


def exit_codes(text: str) -> list[int]:
    """Exit codes of the option `exit`, separated by spaces."""
    return [directives.nonnegative_int(one) for one in text.split()]


class RunDirective(SphinxDirective, ABC):
    """Shared part of the directives: the page's run, and failures as errors of the build."""

    def page_run(self) -> PageRun:
        """Run of the current page."""
        return RUNS[self.env.docname]

    def run(self) -> list[nodes.Node]:
        """Run, and show the command and its output."""
        try:
            made = self.shown()
        except RunError as error:
            return [self.state.document.reporter.error(str(error), line=self.lineno)]
        return [] if "hidden" in self.options else made

    @abstractmethod
    def shown(self) -> list[nodes.Node]:
        """Nodes of the page; each directive has its own."""

    def check_contents(self, text: str) -> None:
        """Raise `RunError` if the output lacks what the option `contains` names; one text a line."""
        for wanted in self.options.get("contains", "").splitlines():
            if wanted.strip() not in text:
                raise RunError(f"the output lacks {wanted.strip()!r}:\n{text}")


class Run(RunDirective):
    """A shell command and its output: one command a line, in the argument or the body; a backslash continues it."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012
        "exit": exit_codes,
        "head": directives.nonnegative_int,
        "tail": directives.nonnegative_int,
        "contains": directives.unchanged_required,
        "hidden": directives.flag,
        "no-output": directives.flag,
        "no-errors": directives.flag,
    }

    def shown(self) -> list[nodes.Node]:
        """Run the commands one after the other; the option `exit` is the exit code of the last one."""
        commands = "\n".join([*self.arguments, *self.content]).replace("\\\n", "\\\0").split("\n")
        commands = [one.replace("\0", "\n") for one in commands if one.strip()]
        if not commands:
            raise RunError("the directive `run` needs a command")
        outputs = []
        for number, command in enumerate(commands, 1):
            outputs.append(
                self.page_run().command(
                    command,
                    exit_codes=self.options.get("exit", [0]) if number == len(commands) else [0],
                    errors="no-errors" not in self.options,
                    seconds=LIMIT,
                )
            )
        text = "\n".join(one for one in outputs if one)
        self.check_contents(text)
        shell = "\n".join("$ " + one.replace("\n", "\n> ") for one in commands)
        made: list[nodes.Node] = [nodes.literal_block(shell, shell, language="console")]
        if text and "no-output" not in self.options:
            made.append(output_block(shown_lines(text, self.options.get("head"), self.options.get("tail"))))
        return made


class RunFile(RunDirective):
    """A file in the page's scratch folder: the body, or a file of the repository (`source`)."""

    has_content = True
    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "source": directives.unchanged_required,
        "language": directives.unchanged_required,
        "hidden": directives.flag,
    }

    def shown(self) -> list[nodes.Node]:
        """Write the file and show its content below its name."""
        name = self.arguments[0]
        if "source" in self.options:
            source = ROOT / self.options["source"]
            if not source.is_file():
                raise RunError(f"run-file: there is no file {self.options['source']}")
            self.env.note_dependency(str(source))
            content = source.read_text(encoding="utf-8")
        else:
            content = "\n".join(self.content) + "\n"
        self.page_run().file(name, content)
        languages = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".sh": "sh"}
        language = self.options.get("language", languages.get(Path(name).suffix, "text"))
        block = nodes.literal_block(content.rstrip("\n"), content.rstrip("\n"), language=language)
        caption = nodes.caption("", "", nodes.literal(name, name))
        wrapped = nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])
        return [wrapped]


class RunPython(RunDirective):
    """Python code and what it shows; the blocks of a page share their names."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "alt": directives.unchanged_required,
        "raises": directives.unchanged_required,
        "contains": directives.unchanged_required,
        "hidden": directives.flag,
        "no-code": directives.flag,
        "fold-code": directives.unchanged,
    }

    def shown(self) -> list[nodes.Node]:
        """Run the code; show it, its text, its tables and its pictures."""
        code = "\n".join(self.content)
        parts = self.page_run().python(code=code, raises=self.options.get("raises"))
        self.check_contents("\n".join(part["content"] for part in parts if part["kind"] != "picture"))
        if any(part["kind"] == "picture" for part in parts) and "alt" not in self.options:
            raise RunError("a block that draws a picture needs the option `alt`, which says what it shows")
        shown = [self._node(part) for part in parts]
        if "no-code" in self.options:
            return shown
        block = nodes.literal_block(code, code, language="python")
        if "fold-code" not in self.options:
            return [block, *shown]
        summary = f'<details class="code"><summary>{self.options["fold-code"] or "Python"}</summary>'
        return [*shown, nodes.raw("", summary, format="html"), block, nodes.raw("", "</details>", format="html")]

    def _node(self, part: dict) -> nodes.Node:
        if part["kind"] == "text":
            return output_block(part["content"])
        if part["kind"] == "table":
            return nodes.raw("", f'<div class="run-table">{part["content"]}</div>', format="html")
        label = html.escape(self.options["alt"])
        svg = part["content"].replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return nodes.raw("", f'<div class="run-picture">{svg}</div>', format="html")


class ValueRole(SphinxRole):
    """Text of a Python expression over the names of the page's blocks: ``{py}`f"{rate:.1%}"` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Evaluate the expression."""
        try:
            (part,) = RUNS[self.env.docname].python(expression=self.text)
        except RunError as error:
            return [], [self.inliner.reporter.error(str(error), line=self.lineno)]
        return [nodes.Text(part["content"])], []


def ordered(costs: dict[str, int], processes: int) -> list[str]:
    """Pages in an order in which the costly ones are read first, each in another process.

    Parameters
    ----------
    costs : dict of str to int
        Cost of each page.
    processes : int
        Number of processes that read pages.
    """
    pages = sorted(costs, key=lambda page: -costs[page])
    sizes = [len(chunk) for chunk in make_chunks(pages, processes)]
    # Sphinx divides the list into chunks. As many as there are processes start at once, and the others from the end.
    places = [*range(processes), *range(len(sizes) - 1, processes - 1, -1)][: len(sizes)]
    chunks: list[list[str]] = [[] for _ in sizes]
    for page in pages:
        open_places = [place for place in places if len(chunks[place]) < sizes[place]]
        chunks[min(open_places, key=lambda place: len(chunks[place]))].append(page)
    return [page for chunk in chunks for page in chunk]


def order_pages(app: Sphinx, env, docnames: list[str]) -> None:
    """Have the pages read first that run most."""
    costs = {name: len(RUNNING.findall(Path(env.doc2path(name)).read_text(encoding="utf-8"))) for name in docnames}
    docnames[:] = ordered(costs, app.parallel)


def set_version(app: Sphinx, config) -> None:
    """Hash the code once, before pages are read in several processes."""
    config.site_code_version = code_version()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives and the role."""
    app.add_config_value("site_code_version", "", "")
    app.connect("config-inited", set_version)
    app.connect("env-before-read-docs", order_pages)
    app.connect("source-read", open_run)
    app.connect("doctree-read", close_run)
    app.add_directive("run", Run)
    app.add_directive("run-file", RunFile)
    app.add_directive("run-python", RunPython)
    app.add_role("py", ValueRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
