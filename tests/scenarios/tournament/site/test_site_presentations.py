"""Presentations: text and picture of a team, private until the close, then sanitised for everybody."""

import builtins
import io
import struct
import zlib

import pytest
from PIL import Image
from run_tools import invoke
from site_tools import HOUR, JSON, START
from step_tools import steps
from tournament_tools import DAY

from scenarios.tournament.host import presenting
from scenarios.tournament.host import presenting as presentation_picture
from scenarios.tournament.host.archives import export, verify
from scenarios.tournament.host.decisions import disqualify, give_title
from scenarios.tournament.host.presenting import (
    LARGEST_PICTURE,
    LONGEST_TEXT,
    checked_picture,
    present,
    presentations,
    presented_file,
)
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.site.pages.team_pages import method_html

NOW = START + DAY + HOUR


def picture(kind="PNG", size=(8, 6), **given):
    target = io.BytesIO()
    Image.new("RGB", size, "teal").save(target, kind, **given)
    return target.getvalue()


def bomb(width, height):
    """A PNG of a few bytes whose header claims many pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b""))
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.fixture
def site(attack_site):
    attack_site.clock.now = NOW
    return attack_site


def send(member, text="*How* we did it", image=None, team="kyoto", **fields):
    files = [("picture", ("../../x.svg", image, "image/svg+xml"))] if image is not None else None
    return member.post(f"/team/{team}/present", {"text": text, **fields}, files=files, headers=JSON)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_draft_is_its_teams_until_the_close_and_everybodys_then(site, kind):
    kyoto, osaka, guest = site.member("kyoto"), site.member("osaka"), site.visitor()
    assert send(kyoto, image=picture(kind)).status_code == 200
    assert "<em>How</em>" in kyoto.get("/team/kyoto/presentation").text
    assert kyoto.get("/team/kyoto/presentation/picture").status_code == 200
    for visitor, refusal in ((osaka, 403), (guest, 401)):
        for path in ("/team/kyoto/presentation", "/team/kyoto/presentation/picture"):
            assert visitor.get(path, headers=JSON).status_code == refusal
    for visitor in (osaka, guest, kyoto):
        assert visitor.get("/presentations/kyoto", headers=JSON).status_code == 404
        assert visitor.get("/presentations/kyoto/picture", headers=JSON).status_code == 404
        assert visitor.get("/presentations", headers=JSON).json()["presentations"] == []
    assert send(osaka, image=None).status_code == 403
    advance(site.played.tournament, START + 2 * DAY)
    assert "<em>How</em>" in guest.get("/presentations/kyoto").text
    assert 'href="/presentations/kyoto"' in guest.get("/presentations").text
    assert 'href="/presentations"' in guest.get("/").text
    answer = guest.get("/presentations/kyoto/picture")
    assert answer.headers["content-type"] == f"image/{kind.lower()}"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert guest.get("/presentations/osaka").status_code == 404
    assert guest.get("/presentations/..%2Fkyoto").status_code == 404
    assert "ended" in send(kyoto).json()["error"]
    assert "unchanged" in verify(site.played.tournament)


def test_a_presentation_of_a_disqualified_team_is_hidden(site):
    assert send(site.member("kyoto")).status_code == 200
    disqualify(site.played.tournament, "kyoto", "copied", NOW)
    assert "disqualified" in send(site.member("kyoto")).json()["error"]
    advance(site.played.tournament, START + 2 * DAY)
    assert site.visitor().get("/presentations/kyoto").status_code == 404
    verify(site.played.tournament)


def test_the_picture_stays_until_it_is_replaced_or_removed(site):
    kyoto = site.member("kyoto")
    send(kyoto, image=picture())
    first = presentations(site.log())["kyoto"]
    send(kyoto, "second")
    assert presentations(site.log())["kyoto"].picture == first.picture
    send(kyoto, "third", remove_picture="yes")
    assert presentations(site.log())["kyoto"].picture is None
    assert kyoto.get("/team/kyoto/presentation/picture").status_code == 404


@pytest.mark.parametrize(
    ("text", "absent", "present_"),
    [
        ("<script>alert(1)</script>", "<script", "&lt;script&gt;"),
        ("<img src=x onerror=alert(1)>", "<img", "&lt;img"),
        ("![p](https://evil.example/p.png)", "<img", ""),
        ("[x](javascript:alert(1))", "href", ""),
        ("[x](data:text/html;base64,AAAA)", "href", ""),
        ("[x](//evil.example)", "href", ""),
        ("[x](/log-out)", "href", ""),
        ("<https://fine.example>", "<script", 'rel="nofollow noopener"'),
        ('[x](https://fine.example "\' onclick=x")', "onclick", 'rel="nofollow noopener"'),
        ("|a|\n|-:|\n|b|", "style", "<table>"),
        ("# Title", "<h1", "<h2>Title"),
        ("a\u202eb", "\u202e", ""),
    ],
)
def test_texts_are_sanitised(text, absent, present_):
    html = method_html(text)
    assert absent not in html
    assert present_ in html


def test_the_sanitiser_holds_where_the_parser_fails(monkeypatch):
    """Two layers: HTML that the parser lets through is removed by the list of allowed tags."""
    from markdown_it import MarkdownIt

    from scenarios.tournament.site.pages import team_pages as presentation_text

    monkeypatch.setattr(presentation_text, "markdown_parser", lambda: MarkdownIt("commonmark", {"html": True}))
    text = "<script>alert(1)</script>\n\n<svg onload=x></svg> <a href='javascript:x' onclick=x>y</a> ![p](https://e.example/p)"
    text += "<div class=top role=alert tabindex=5 id=main style=color:red>z</div>"
    html = method_html(text + " unlike other tests")
    for forbidden in ("<script", "<svg", "onclick", "javascript", "<img", "top", "alert", "tabindex", "id=", "style"):
        assert forbidden not in html


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("unit", ["[", "![", "*a_", "> ", "`", "|a", "<", "&"])
def test_the_work_on_nested_texts_is_linear(unit):
    """Twice the text runs at most twice the Python, but for a tenth."""
    half, whole = (steps(method_html.__wrapped__, unit * (size // len(unit))) for size in (1000, 2000))
    assert whole < 2.2 * half


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither PNG nor JPEG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither PNG nor JPEG"),
        (b"GIF89a", "neither PNG nor JPEG"),
        (b"\x89PNG\r\n\x1a\n", "damaged"),
        (b"\xff\xd8\xff\xe0", "damaged"),
        (b"\xff\xd8\xff\xe0\x00\x00" * 9, "damaged"),
        (picture()[:50], "damaged"),
        (bomb(50_000, 50_000), "pixels"),
        (bomb(4096, 4096), "pixels"),
        (bomb(0, 5), "damaged"),
        (picture("JPEG", (4200, 10)), "pixels"),
        (picture() + b"\0" * LARGEST_PICTURE, "bytes"),
    ],
)
def test_bad_pictures_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        checked_picture(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_pictures_lose_metadata_and_appended_data(kind):
    exif = Image.Exif()
    exif[0x010E] = "at 35.01 N"
    clean = checked_picture(picture(kind, exif=exif) + b"<script>x</script>")
    assert b"35.01" not in clean
    assert b"<script>" not in clean
    with Image.open(io.BytesIO(clean)) as image:
        assert (image.format, image.size) == (kind, (8, 6))


def test_without_pillow_no_picture_is_stored_since_metadata_would_stay(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "PIL":
            raise ImportError
        return real(name, *rest)

    data = picture()
    monkeypatch.setattr(builtins, "__import__", without)
    # Hosts read this at the command, and teams on the site.
    with pytest.raises(ValueError, match=r"lacks Pillow.*its host installs it by pip.*without a picture$") as refusal:
        checked_picture(data)
    assert "ask the host" not in str(refusal.value)
    with pytest.raises(ValueError, match="lacks Pillow"):
        checked_picture(bomb(50_000, 50_000))


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("text", "image", "status"),
    [("", None, 422), ("x" * (LONGEST_TEXT + 1), None, 422), ("x\0", None, 422), ("x", b"GIF89a", 422)],
)
def test_refused_presentations_change_nothing(site, text, image, status):
    before = len(site.log())
    answer = send(site.member("kyoto"), text, image)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert len(site.log()) == before


def test_large_uploads_are_cut_off(site):
    assert send(site.member("kyoto"), image=b"x" * (LARGEST_PICTURE + 100)).status_code == 413


def test_titles_and_texts_are_escaped(site):
    text = "</textarea><script>alert(1)</script>"
    kyoto, guest = site.member("kyoto"), site.visitor()
    give_title(site.played.tournament, "kyoto", "<script>alert(2)", NOW)
    send(kyoto, text)
    pages = [kyoto.get("/team/kyoto/presentation").text]
    advance(site.played.tournament, START + 2 * DAY)
    pages += [guest.get(path).text for path in ("/presentations", "/presentations/kyoto")]
    for page in pages:
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(2)" in page


def test_verification_notices_changed_and_late_presentations(site, tmp_path):
    tournament = site.played.tournament
    one = present(tournament, "kyoto", "text", picture(), NOW)
    export(tournament, tmp_path / "all.zip", everything=True)
    path = tournament.host / "presentations" / one.text
    path.write_bytes(b"other")
    for check in (verify, lambda cup: presented_file(cup, one.text)):
        with pytest.raises(ValueError, match="was changed"):
            check(tournament)
    path.write_bytes(b"text")
    verify(tournament)
    with tournament.log.locked():
        tournament.log.append("presented", {"team": "kyoto", "text": one.text}, START + 3 * DAY)
    with pytest.raises(ValueError, match="after the end"):
        verify(tournament)


def test_changes_are_counted(site, monkeypatch):
    monkeypatch.setattr(presenting, "MOST_CHANGES", 1)
    present(site.played.tournament, "kyoto", "text", None, NOW)
    with pytest.raises(ValueError, match="no more changes"):
        present(site.played.tournament, "kyoto", "text", None, NOW)
    with pytest.raises(ValueError, match="has ended"):
        present(site.played.tournament, "osaka", "text", None, START + 2 * DAY)


def test_the_command_stores_a_presentation(site, tmp_path):
    text, image = tmp_path / "text.md", tmp_path / "p.png"
    text.write_text("# Ours", encoding="utf-8")
    image.write_bytes(picture())
    answer = invoke("tournament", "present", site.folder, "kyoto", text, "--picture", image)
    assert answer.exit_code == 0, answer.output
    assert presentations(site.log())["kyoto"].picture
    text.write_bytes(b"\xff\xfe")
    assert invoke("tournament", "present", site.folder, "kyoto", text).exit_code == 2
    assert invoke("tournament", "present", site.folder, "nobody", image).exit_code == 2


def test_a_removed_guard_is_noticed(site, monkeypatch):
    """The tests above would see a draft if the check of the phase were missing."""
    from scenarios.tournament.site.pages import team_pages as presentation_pages

    monkeypatch.setattr(presentation_pages, "shown_presentations", lambda cup, entries: presentations(entries))
    send(site.member("kyoto"))
    assert site.visitor().get("/presentations/kyoto").status_code == 200
    assert presentation_picture.media_type(b"<svg/>") is None
