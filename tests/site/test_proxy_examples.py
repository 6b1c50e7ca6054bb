"""The examples of proxies in the documentation fit the limits of the tournament's site."""

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from scenarios.tournament.site.pages.team_pages import UPLOADS

PAGE = Path(__file__).parents[2] / "docs" / "site" / "en" / "operate" / "tournament-site.md"


def block(language: str) -> str:
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]


@pytest.mark.parametrize(
    ("language", "pattern", "unit"),
    [("nginx", r"client_max_body_size (\d+)m;", 1 << 20), ("text", r"max_size (\d+)MiB\n", 1 << 20)],
)
def test_proxies_pass_the_largest_upload_and_little_more(language, pattern, unit):
    largest = int(re.search(pattern, block(language))[1]) * unit
    assert UPLOADS.body <= largest <= 1.1 * UPLOADS.body


def test_nginx_writes_no_address_of_an_invitation_and_does_not_buffer_events():
    text = block("nginx")
    # In the block that redirects, too.
    assert text.count("access_log off;") == len(re.findall(r"^server \{", text, re.M)) == 2
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in text
    live = re.search(r"location = /live \{(.*?)\}", text, re.S)[1]
    assert "proxy_buffering off;" in live
