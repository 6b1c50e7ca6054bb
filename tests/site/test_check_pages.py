"""The check of built pages finds broken links and requests to other hosts."""

import pytest
from check_pages import faults

GOOD = '<a href="b.html#part">b</a><a href="https://example.org/">out</a><link rel="canonical" href="x">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="part">x</p><img src="data:image/png;base64,AA"><a href="#part">up</a>')
    (tmp_path / "s.css").write_text("p { background: url(data:image/png;base64,AA) }")
    return tmp_path


def test_good_pages_have_no_fault(site):
    assert faults(site) == []


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="c.html">x</a>', "bad.html: the link c.html leads nowhere"),
        ('<a href="a.html#no">x</a>', "bad.html: the link a.html#no names no anchor of that page"),
        ('<img src="missing.png">', "bad.html: the link missing.png leads nowhere"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "loads https://cdn.example/x.js from another host",
        ),
        ('<link rel="stylesheet" href="//fonts.example.org/f">', "loads //fonts.example.org/f from another host"),
        ('<p style="background: url(http://e.org/p.png)">', "loads http://e.org/p.png from another host"),
    ],
)
def test_faults_are_found(site, page, fault):
    (site / "bad.html").write_text(page)
    (found,) = faults(site)
    assert fault in found


def test_style_sheets_must_not_load_from_elsewhere(site):
    (site / "bad.css").write_text("@import 'https://fonts.example.org/f.css';")
    assert faults(site) == ["bad.css: loads https://fonts.example.org/f.css from another host"]
