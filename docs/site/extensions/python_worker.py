"""Process that runs the Python code of one page; it speaks lines of JSON with `page_run`."""

import ast
import contextlib
import io
import json
import os
import re
import sys
import traceback


class PageNamespace:
    """Names of one page's code, and what each block shows.

    Attributes
    ----------
    names : dict
        Namespace that all blocks of the page share.
    """

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "page", "display": self.display}
        self._parts: list[dict[str, str]] = []
        self._text = io.StringIO()
        self._pictures = 0

    def run(self, code: str) -> dict[str, object]:
        """Run one block; the value of a last expression is shown.

        Parameters
        ----------
        code : str
            Python source.

        Returns
        -------
        dict
            `parts`: list of {"kind": "text" | "table" | "picture", "content": str}; `error`: class and message of an
            exception; `trace`: its traceback.
        """
        self._parts, self._text = [], io.StringIO()
        reply: dict[str, object] = {"error": None, "trace": None}
        with contextlib.redirect_stdout(self._text):
            try:
                self._execute(code)
            except Exception as error:
                reply |= {"error": "".join(traceback.format_exception_only(error)), "trace": traceback.format_exc()}
        self._flush()
        return reply | {"parts": self._parts}

    def value(self, expression: str) -> dict[str, object]:
        """Text of an expression."""
        try:
            text = str(eval(expression, self.names))  # noqa: S307 - code of the documentation itself
        except Exception as error:
            return {"error": "".join(traceback.format_exception_only(error)), "trace": traceback.format_exc()}
        return {"error": None, "parts": [{"kind": "text", "content": text}]}

    def display(self, value: object) -> None:
        """Show a value below the block: a table, a picture, or its text."""
        self._flush()
        if hasattr(value, "to_frame") and hasattr(value, "to_numpy"):
            value = value.to_frame()
        if hasattr(value, "to_html"):
            table = value.to_html(border=0, index=getattr(value.index, "dtype", "") != "int64")
            self._parts.append({"kind": "table", "content": table})
        elif hasattr(value, "_repr_svg_"):
            self._picture(value._repr_svg_())
        elif isinstance(value, str) and value.lstrip().startswith("<svg"):
            self._picture(value)
        elif getattr(value, "_repr_html_", None):
            self._parts.append({"kind": "table", "content": value._repr_html_()})
        else:
            self._parts.append({"kind": "text", "content": repr(value)})

    def _execute(self, code: str) -> None:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<page>", "exec"), self.names)  # noqa: S102 - code of the documentation itself
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), self.names)  # noqa: S307
            if value is not None:
                self.display(value)

    def _picture(self, svg: str) -> None:
        """Add a picture; its ids get a prefix, since several pictures share a page."""
        self._pictures += 1
        svg = svg[svg.index("<svg") :]
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>p{self._pictures}-", svg)
        self._parts.append({"kind": "picture", "content": svg})

    def _flush(self) -> None:
        if text := self._text.getvalue():
            self._parts.append({"kind": "text", "content": text.rstrip("\n")})
        self._text.seek(0)
        self._text.truncate()


def main() -> None:
    """Answer requests until standard input ends. What children print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path[0] = ""
    namespace = PageNamespace()
    for line in sys.stdin:
        request = json.loads(line)
        reply = namespace.run(request["code"]) if "code" in request else namespace.value(request["expression"])
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
