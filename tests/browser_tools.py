"""A tournament's site in a real browser: the system's Chromium, driven over a loopback address."""

import shutil
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from site_tools import PASSWORD

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--no-sandbox", "--disable-dev-shm-usage"),
    # A process for each page would cost more than what the page does.
    *("--disable-site-isolation-trials", "--renderer-process-limit=1"),
    # Without a graphics card, the processor would imitate one; pages look the same without it.
    *("--disable-gpu", "--in-process-gpu"),
]
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
WAIT = 60_000
"""Milliseconds after which an action in the browser fails."""


@contextmanager
def chromium():
    """The system's Chromium; the test is skipped where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def reachable(site):
    """Address of a site on a port of this machine, served by a thread."""
    config = uvicorn.Config(
        site.app, port=0, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


class Person:
    """A person with a browser of their own."""

    def __init__(self, browser, address, *, viewport=DESK, **given):
        self.context = browser.new_context(base_url=address, viewport=viewport, **given)
        self.context.set_default_timeout(WAIT)
        self.page = self.context.new_page()
        self.errors = []
        # A dialog that opens before the browser intercepts dialogs is lost, so it intercepts them from the start.
        self.page.on("filechooser", lambda _: None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        # The browser reports what the content security policy refused as an error of the console.
        self.page.on("console", self._note)

    def _note(self, message):
        if message.type == "error" and "status of 4" not in message.text:
            self.errors.append(message.text)

    def open(self, path):
        """Open a page; return it."""
        self.page.goto(path, wait_until="load")
        return self.page

    def accept(self, invitation):
        """Set the password by an invitation."""
        self.open(invitation)
        self.set_password(PASSWORD, PASSWORD)

    def set_password(self, password, repeated):
        """Fill in the form of an invitation."""
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_label("The same password again").fill(repeated)
        self.press("Set the password and log in")

    def log_in(self, name):
        """Log in with the password."""
        self.open("/log-in")
        self.page.get_by_label("Name of the team").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.press("Log in")

    def log_out(self):
        """Forget all cookies, as another visitor's browser."""
        self.context.clear_cookies()

    def choose(self, label, name, content):
        """Choose a file in a form."""
        self.page.get_by_label(label).set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})

    def press(self, button):
        """Press a button, and wait for the page that it leads to."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()

    def text(self):
        """Text of the page's content."""
        return self.page.inner_text("main")


AXE = """async () => {
    const answer = await axe.run({ resultTypes: ["violations"], preload: false });
    const brief = ({ id, impact, help, nodes }) => ({ id, impact, help, html: nodes.map(one => one.html) });
    return answer.violations.map(brief);
}"""
"""Runs axe; only what is wrong comes back. Style sheets of other hosts, which axe would load first, do not exist."""


def findings(page):
    """What axe finds on a page: serious and critical ones, and all others, each as one line."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page.evaluate(axe.axe_script)
    grave, other = [], []
    for one in page.evaluate(AXE):
        where = "; ".join(html[:120] for html in one["html"][:3])
        line = f"{page.url}: {one['id']} ({one['impact']}): {one['help']}: {where}"
        (grave if one["impact"] in ("serious", "critical") else other).append(line)
    return grave, other


KINDS = """() => [...document.querySelectorAll("*")].map(one => [
    one.localName, one.type ?? "", ...[...one.classList].sort(), ...one.getAttributeNames().sort()].join(" "))"""


def kinds(page):
    """Kinds of elements on a page: each one's name, type, classes, and which attributes it has."""
    return set(page.evaluate(KINDS))


def overflow(page):
    """Pixels by which a page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def tab_to(page, selector, *, most=60):
    """Move the focus with the Tab key until it is on an element; each stop on the way must be visible."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(one) => document.activeElement.matches(one)", selector):
            return
    raise AssertionError(f"the Tab key does not reach {selector} on {page.url}")
