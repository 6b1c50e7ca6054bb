"""The site in a real browser: the course of a tournament, the keyboard alone, a phone, and accessibility by axe."""

import io
import re
from datetime import timedelta

import pytest
from browser_tools import DESK, PHONE, Person, chromium, findings, kinds, overflow, reachable, tab_to
from PIL import Image
from site_tools import HOUR, ORIGINALS, PASSWORD, START, TEAMS, served
from tournament_tools import opened

from attacks import NearestNeighbour
from scenarios.tournament.host.boards import scored_phase, shares_in, update_boards
from scenarios.tournament.host.presenting import present
from scenarios.tournament.rules import scoring
from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.site.account_store import invitations_page, invite
from scenarios.tournament.site.application import ENDPOINTS

pytestmark = pytest.mark.waits

DAY = timedelta(days=1)
ATTACK = b"released_row,candidate_row\n0,1\n1,2\n"
STANDINGS = """\
rank,team,defense_rank,defense,attack_rank,attack,utility,utility_table,utility_record,worst_attack,worst_goal,\
worst_success,attacked,title,remark
1,kyoto,1,0.62,1,0.25,0.8,0.8,0.9,osaka,rows,0.225,1,kyoto,
2,osaka,2,0.1,2,0.1,0.5,0.5,0.7,baseline:NearestNeighbour,rows,0.8,1,osaka,tied with nobody
3,nara,3,,3,,,,,,,,0,nara,handed in nothing
"""
MATRIX = """\
scenario,defense,attack,advantage
tournament,kyoto,osaka,0.225
tournament,osaka,baseline:NearestNeighbour,0.8
tournament,osaka,kyoto,0.95
"""
WIDE = "|".join(f"column_number_{n}" for n in range(12))
METHOD = (
    f"## Our method\n\n{WIDE}\n{'|'.join(['---'] * 12)}\n{'|'.join(['1'] * 12)}\n\n1. [rounded](https://example.org)\n"
)
GUEST = ("/", "/screen", "/rules", "/log-in", "/presentations", "/nowhere", "/invitation/wrong")
TEAM = ("/", "/account", "/team/kyoto", "/team/kyoto/report", "/team/kyoto/presentation", "/team/osaka")
HOST = ("/host", "/host#decisions", "/host#grave", "/host#full", "/team/kyoto", "/team/kyoto/presentation", "/account")
PAGES = {"kyoto": TEAM, "host": HOST, "guest": GUEST}
"""Pages of the attack phase by who opens them, also such that are refused; those with most elements first."""
CLOSED = {
    "guest": ("/", "/screen", "/presentations", "/presentations/kyoto"),
    "kyoto": ("/team/kyoto", "/team/kyoto/presentation"),
    "host": ("/host",),
}
"""Pages that differ after the close."""
FILES = {
    *("/boards/{name}", "/published.zip", "/published/{of}/{kind}", "/live", "/health", "/static/{name}"),
    *("/team/{team}/kit.zip", "/team/{team}/submissions/{number}", "/host/export.zip"),
    *("/presentations/{of}/picture", "/team/{team}/presentation/picture"),
}
"""Addresses that answer with a file instead of a page."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A tournament of seven columns in its first phase."""
    return opened(tmp_path_factory.mktemp("narrow") / "cup", TEAMS, originals=ORIGINALS, candidates=2 * ORIGINALS)


@pytest.fixture
def cup_site(narrow, tmp_path):
    with served(narrow.tournament.folder, tmp_path / "cup") as one:
        yield one


@pytest.fixture
def board_site(cup_site):
    """The site in the attack phase, with boards and reports."""
    for team in ("kyoto", "osaka"):
        cup_site.played.hand_in(team, cup_site.table(team))
    cup_site.played.publish()
    update_boards(Tournament(cup_site.folder), 0.5)
    (cup_site.folder / "public" / "standings.csv").write_text(STANDINGS)
    (cup_site.folder / "public" / "matrix.csv").write_text(MATRIX)
    cup_site.clock.now = START + DAY + HOUR
    drawing = io.BytesIO()
    Image.new("RGB", (900, 300), "teal").save(drawing, "PNG")
    present(Tournament(cup_site.folder), "kyoto", METHOD, drawing.getvalue(), cup_site.clock.now)
    return cup_site


def wrong_table(site, team):
    """A table with a range that is written in the wrong way."""
    frame = site.played.frame(team).astype({"age": object})
    frame.loc[3, "age"] = "20-29"
    return csv_bytes(frame)


def scored(site, share=0.5):
    """Score the tournament and write its boards."""
    tournament = Tournament(site.folder)
    score_shares(tournament, shares_in(scored_phase(tournament), share), 1)
    update_boards(tournament, share)


# Its parts are in other tests: forms and the close in the visit of every page, uploads in the test of the keyboard.
@pytest.mark.long
def test_a_tournament_from_invitation_to_standings(cup_site, browser, monkeypatch):
    # One baseline attack suffices for a board.
    monkeypatch.setattr(scoring, "baselines", lambda: (NearestNeighbour(),))
    with reachable(cup_site) as address:
        kyoto, osaka = (Person(browser, address) for _ in range(2))
        host = Person(browser, address, timezone_id="Asia/Tokyo", locale="en-GB")
        host.accept(cup_site.invitation("host"))
        host.open("/host#decisions")
        # Pages show and forms read times in one zone.
        host.page.locator("#extend-phase").select_option("attack")
        host.page.get_by_label("New end (GMT+9)").fill("2030-01-03T21:30")
        host.page.locator("#extend-reason").fill("snow")
        host.press("Extend")
        assert cup_site.log()[-1].details["until"] == "2030-01-03T12:30:00+00:00"
        # Browsers differ in the comma after the day of the week.
        assert re.search(r"attack ends at Thu,? 3 Jan 2030, 21:30 GMT\+9", host.page.locator("#outcome").inner_text())
        assert re.search(r"Wed,? 2 Jan 2030, 21:00 GMT\+9", host.page.locator(".phase").inner_text())
        host.open("/host#decisions")
        host.page.locator("#invite-team").select_option("kyoto")
        host.press("Make a one-time link")
        link = host.page.locator("main code").inner_text()
        kyoto.accept(link)
        assert kyoto.page.url.endswith("/team/kyoto")
        # The link works once.
        osaka.open(link)
        assert not osaka.page.locator("#password").count()

        kyoto.choose("Anonymized table (CSV)", "table.csv", wrong_table(cup_site, "kyoto"))
        kyoto.press("Submit")
        assert "Refused" in kyoto.text()
        assert "[20,29]" in kyoto.text()
        kyoto.choose("Anonymized table (CSV)", "table.csv", cup_site.table("kyoto"))
        kyoto.press("Submit")
        assert "Accepted" in kyoto.text()
        assert kyoto.page.locator("tr.in-force").count() == 1

        osaka.accept(cup_site.invitation("osaka"))
        osaka.choose("Anonymized table (CSV)", "table.csv", cup_site.table("osaka", age="*"))
        osaka.press("Submit")
        assert "Accepted" in osaka.text()

        close_phase(host, cup_site, START + DAY)
        kyoto.log_in("kyoto")
        kyoto.page.get_by_label("Team that the file attacks").select_option("osaka")
        kyoto.choose("Correspondence tables (CSV), one or more", "any.csv", ATTACK)
        kyoto.press("Submit")
        assert "Accepted" in kyoto.text()
        close_phase(host, cup_site, START + 2 * DAY)
        scored(cup_site)

        board = Person(browser, address).open("/")
        rows = board.locator("table.standings tbody tr")
        assert rows.count() == 3
        assert {rows.nth(n).locator("th").inner_text().split()[0] for n in (0, 1)} == {"kyoto", "osaka"}
        assert "handed in nothing" in rows.nth(2).inner_text()
        assert board.locator("table.matrix").count() == 1
        assert not kyoto.errors + osaka.errors + host.errors


def close_phase(host, site, moment):
    """The host closes the phase at its end; sessions have ended by then."""
    site.clock.now = moment + HOUR
    host.log_in("host")
    host.open("/host#grave").locator("#sure-advance").check()
    host.press("Close the phase")
    assert host.page.locator("#outcome .accepted").count() == 1


def test_every_address_of_a_page_is_opened_in_the_browser():
    """A new page must be added to `PAGES` or `CLOSED`, so that it is checked, too."""
    pages = {one.path for one in ENDPOINTS if one.method == "GET"} - FILES
    paths = {path for stage in (PAGES, CLOSED) for by_role in stage.values() for path in by_role}
    opened = {
        path.replace("presentations/kyoto", "presentations/{of}")
        .replace("team/kyoto", "team/{team}")
        .replace("/wrong", "/{token}")
        for path in paths
    }
    assert pages <= opened


def visit_attack_phase(person, site, visit):
    """Open every page of the attack phase, and those that follow a form; call ``visit(page)`` on each."""
    page = person.page
    for name, paths in PAGES.items():
        person.log_out()
        if name == "guest":
            person.log_in("nobody")
            assert page.locator("[role=alert]").count()
            visit(page)
        else:
            visit(person.open(site.invitation(name)))
            person.set_password(PASSWORD, "something else entirely")
            visit(page)
            person.set_password(PASSWORD, PASSWORD)
        for path in paths:
            visit(person.open(path))
        if name == "kyoto":
            visit_uploads(person, visit)
        elif name == "host":
            visit_messages(person, visit)


def visit_messages(host, visit):
    """Open the pages that follow a message, and an invitation."""
    host.open("/host#decisions")
    host.page.locator("#text").fill("Lunch at noon. " + "Wakayama" * 30)
    host.press("Post")
    visit(host.page)
    host.open("/host#decisions")
    host.page.locator("#invite-team").select_option("nara")
    host.press("Make a one-time link")
    visit(host.page)


def visit_uploads(kyoto, visit):
    """Open the pages that follow an upload of attacks, and a preview."""
    kyoto.open("/team/kyoto")
    files = [{"name": f"kyoto_attack_{n}.csv", "mimeType": "text/csv", "buffer": data} for n, data in UPLOADS]
    kyoto.page.get_by_label("Correspondence tables").set_input_files(files)
    kyoto.press("Submit")
    assert kyoto.page.locator(".refused").count()
    assert kyoto.page.locator(".accepted").count()
    visit(kyoto.page)
    number = kyoto.page.locator("input[name=number]").first.input_value()
    kyoto.press(f"Preview the scores of submission {number}")
    assert "Built-in attack" in kyoto.text()
    visit(kyoto.page)


def visit_all(browser, site, visit, sheet, **given):
    """Open every page as everybody who may, in the attack phase and after the close, and a sheet of invitations.

    One browser logs in as one after another: a browser for each of them would cost what many pages cost.
    """
    with reachable(site) as address:
        person = Person(browser, address, **given)
        visit_attack_phase(person, site, visit)
        close_phase(person, site, START + 2 * DAY)
        for name, paths in reversed(CLOSED.items()):
            if name != "host":
                person.log_out()
            if name == "kyoto":
                person.log_in(name)
            for path in paths:
                visit(person.open(path))
        links = invite(site.folder, ["host", *TEAMS], site.clock.now, address=address)
        sheet.write_text(invitations_page("A cup", links))
        visit(person.open(sheet.as_uri()))
        assert not person.errors
        person.context.close()


UPLOADS = (("osaka", ATTACK), ("nowhere", ATTACK), ("osaka", b"released_row,candidate_row\n0,99\n"))


@pytest.mark.parametrize(
    ("viewport", "scheme", "everywhere"),
    [
        pytest.param(PHONE, "light", False, id="new elements"),
        *(
            pytest.param(viewport, scheme, True, marks=pytest.mark.long)
            for viewport in (PHONE, DESK)
            for scheme in ("light", "dark")
        ),
    ],
)
def test_every_page_is_accessible_and_fits_its_window(board_site, browser, tmp_path, viewport, scheme, everywhere):
    """Axe finds nothing serious; only tables scroll sideways, in regions of their own; a finger hits every button.

    Axe costs more than all else. It checks either every page, or each that has a kind of element for the first time.
    """
    wrong, seen = [], set()

    def visit(page):
        here = kinds(page)
        if everywhere or here - seen:
            seen.update(here)
            wrong.extend(findings(page)[0])
        if overflow(page) > 0:
            wrong.append(f"{page.url}: is {overflow(page)} pixels wider than the window")
        wrong.extend(f"{page.url}: too small: {one}" for one in page.evaluate(SMALL))
        wrong.extend(f"{page.url}: a list of problems is cut" for _ in range(page.evaluate(CUT)))

    visit_all(browser, board_site, visit, tmp_path / "sheet.html", viewport=viewport, color_scheme=scheme)
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
def test_axe_finds_what_is_wrong(browser):
    """The check is able to fail: a picture without a text, a field without a label, pale text."""
    page = browser.new_page()
    page.set_content('<html lang="en"><title>x</title><main><img src="x"><input><p style="color:#ccc">pale</p></main>')
    assert {"image-alt", "label", "color-contrast"} <= {line.split(": ")[1].split()[0] for line in findings(page)[0]}
    page.close()


SMALL = """[...document.querySelectorAll("button, input:not([type=hidden]):not([type=checkbox]), select")]
    .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, box]) => box.height > 0 && (box.height < 24 || box.width < 24)).map(([text]) => text)"""
"""Buttons and fields below 24 pixels, the least size of WCAG 2.2, success criterion 2.5.8."""
CUT = """[...document.querySelectorAll(".problems")]
    .filter(({ parentElement: one }) => one.scrollWidth > one.clientWidth).length"""
"""Number of lists of problems that are wider than the window."""


@pytest.mark.thorough
def test_the_keyboard_alone_hands_in_a_table(cup_site, browser):
    with reachable(cup_site) as address:
        cup_site.member("kyoto")
        person = Person(browser, address)
        page = person.open("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.goto("/")
        follow(page, 'a[href="/log-in"]')
        tab_to(page, "#name")
        page.keyboard.type("kyoto")
        tab_to(page, "#password")
        page.keyboard.type(PASSWORD)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        for data, verdict in ((wrong_table(cup_site, "kyoto"), "refused"), (cup_site.table("kyoto"), "accepted")):
            # After an upload the focus starts anew at the top of the page.
            tab_to(page, "#file")
            with page.expect_file_chooser() as chooser:
                page.keyboard.press("Enter")
            chooser.value.set_files({"name": "table.csv", "mimeType": "text/csv", "buffer": data})
            tab_to(page, "form.drop button:not(.plain)")
            with page.expect_navigation():
                page.keyboard.press("Enter")
            assert page.locator(f"#outcome .{verdict}").count() == 1
        assert not person.errors


def follow(page, selector):
    """Follow a link by the keyboard."""
    tab_to(page, selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")
