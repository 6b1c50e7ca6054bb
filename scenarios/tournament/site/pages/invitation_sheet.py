"""Sheet of invitations to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jinja2 import Environment

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Invitations: {{ title }}</title>
<style>
body { font: 14pt/1.5 system-ui, sans-serif; margin: 2rem; }
section { break-inside: avoid; border: 1px solid; padding: 1rem; margin-bottom: 1.5rem; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Invitations</h1>
<p>{{ title }}</p>
{% for one in invitations %}
<section>
<h2>{{ one.title }}</h2>
<p>You log in as <strong>{{ one.name }}</strong>. Set your password here:</p>
<p><code>{{ one.address }}</code></p>
<p>The link works once, until {{ one.until.strftime("%Y-%m-%d %H:%M") }} UTC. Do not hand it on.</p>
</section>
{% endfor %}
</body>
</html>
"""


@dataclass(frozen=True)
class Invitation:
    """An invitation as it is handed to its user.

    Attributes
    ----------
    name, title : str
        Log-in name, and title of the team.
    address : str
        The one-time link.
    until : datetime
        Until when it is valid, in UTC.
    """

    name: str
    title: str
    address: str
    until: datetime

    @property
    def line(self) -> str:
        """The invitation as a line of text."""
        return f"{self.name}\t{self.address}\tuntil {self.until:%Y-%m-%d %H:%M} UTC"


def invitations_page(title: str, invitations: Sequence[Invitation]) -> str:
    """A page to print, which each user gets a part of."""
    template = Environment(autoescape=True).from_string(_PAGE)
    return template.render(title=title, invitations=invitations) + "\n"
