"""Documents made from templates."""

import os

from jinja2 import Environment

from leaderboard.pages.documents import render


def test_a_template_is_compiled_once_and_again_after_a_change(tmp_path, monkeypatch):
    compiled = []
    compile_template = Environment.compile
    monkeypatch.setattr(Environment, "compile", lambda *arguments: compiled.append(1) or compile_template(*arguments))
    template = tmp_path / "letter.html"
    template.write_text("{{ name }} has {{ people | count }}")
    made = [render("letter.html", {"count": f}, folder=tmp_path, name="<A>", people="xy") for f in (len, str.upper)]
    # The filters and values are those of each call.
    assert made == ["&lt;A&gt; has 2", "&lt;A&gt; has XY"]
    assert len(compiled) == 1
    before = template.stat()
    template.write_text("{{ name }} owns {{ people | count }}")
    os.utime(template, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert render("letter.html", {"count": len}, folder=tmp_path, name="A", people="xy") == "A owns 2"
