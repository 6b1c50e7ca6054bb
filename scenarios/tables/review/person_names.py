"""Texts that look like names of people, by their form and by common given names."""

from __future__ import annotations

import re
from collections.abc import Sequence

GIVEN_NAMES = frozenset((
    "aaron", "abigail", "adam", "ahmed", "aisha", "akira", "alan", "albert", "alexander", "alexandra", "ali", "alice",
    "alicia", "amanda", "amelia", "amina", "amit", "amy", "ana", "andrea", "andreas", "andrew", "angela", "anita",
    "anja", "anjali", "ann", "anna", "anne", "anthony", "antonio", "aoife", "arthur", "ashley", "ava", "barbara",
    "beatrice", "ben", "benjamin", "bernd", "betty", "birgit", "brandon", "brian", "carl", "carla", "carlos",
    "carmen", "carol", "caroline", "catherine", "charles", "chloe", "chris", "christian", "christina", "christine",
    "christopher", "claire", "clara", "claudia", "cynthia", "daisuke", "daniel", "daniela", "david", "deborah",
    "deepak", "dennis", "diana", "diego", "dieter", "dmitri", "donald", "donna", "dorothy", "edward", "elena",
    "elias", "elijah", "elizabeth", "ella", "emily", "emma", "eric", "ethan", "eva", "evelyn", "ezra", "fatima",
    "felix", "fernando", "finn", "fiona", "francesca", "francesco", "francisco", "frank", "franz", "fritz", "gabriel",
    "gary", "george", "gerhard", "giovanni", "giulia", "grace", "hana", "hannah", "hans", "harry", "haruka", "hassan",
    "heather", "heike", "heinz", "helen", "helena", "helga", "henry", "hiroshi", "hugo", "ibrahim", "ines", "ingrid",
    "irene", "isabel", "isabella", "isla", "ivan", "jack", "jacob", "jacqueline", "james", "jan", "jane", "janet",
    "jason", "javier", "jean", "jennifer", "jessica", "jin", "joan", "johannes", "john", "jonas", "jonathan", "jorge",
    "jose", "joseph", "joshua", "juan", "judith", "julia", "julie", "justin", "jürgen", "karen", "karin", "karl",
    "katherine", "kathleen", "katrin", "keiko", "kelly", "kenji", "kevin", "kimberly", "klaus", "kofi", "kumar",
    "lars", "laura", "lauren", "lena", "leo", "leon", "levi", "liam", "lily", "linda", "lisa", "louis", "louise",
    "luca", "lucas", "lucy", "luis", "lukas", "luke", "manuel", "marco", "margaret", "maria", "marie", "mark",
    "markus", "martin", "martina", "mary", "mateo", "matthew", "max", "maximilian", "megan", "mehmet", "mei",
    "melissa", "mia", "michael", "michelle", "miguel", "mohamed", "mohammad", "mohammed", "monika", "muhammad",
    "nancy", "natalia", "natalie", "nathan", "nicholas", "nicole", "nina", "noah", "nora", "olga", "oliver", "olivia",
    "omar", "oscar", "owen", "pablo", "pamela", "patricia", "patrick", "paul", "paula", "pedro", "peter", "petra",
    "philip", "pierre", "priya", "rachel", "rahul", "raj", "ralf", "raymond", "rebecca", "richard", "robert", "roger",
    "ronald", "rosa", "ruth", "ryan", "sabine", "sakura", "samantha", "samuel", "sandra", "sara", "sarah", "satoshi",
    "scott", "sean", "sebastian", "sergei", "sharon", "simon", "sofia", "sophia", "sophie", "stefan", "stephanie",
    "stephen", "steven", "susan", "susanne", "takashi", "tanja", "teresa", "theo", "theresa", "thomas", "timothy",
    "tom", "tyler", "ursula", "uwe", "valentina", "vanessa", "victor", "vincent", "walter", "wei", "werner",
    "william", "wolfgang", "yasmin", "yuki", "yuko", "yusuf", "zoe",
))  # fmt: skip
"""Common given names of several languages, in lower case; names of months, cities and countries are left out."""
_WORD = r"[^\W\d_]+(?:[-'’.][^\W\d_]+)*\.?"
_LAST_FIRST = re.compile(rf"{_WORD}(?: {_WORD}){{0,3}}, *({_WORD})(?: {_WORD}){{0,3}}")
_FIRST_LAST = re.compile(rf"(?:(?:mr|mrs|ms|dr|prof|herr|frau)\.? )?({_WORD})(?: {_WORD}){{1,3}}", re.IGNORECASE)
FORMED = 0.8
"""Share of distinct texts that have the form of a name, from which a column may hold names of people."""
GIVEN = 0.2
"""Share of distinct texts with a common given name in its place, from which a column holds names of people.

Cities, companies, streets and titles of jobs have the form, too, but few of them have a given name in that place.
"""


def look_like_people(texts: Sequence[str]) -> bool:
    """Return True if most texts read "Surname, Given" or "Given Surname", and many begin with a common given name.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts of a column.

    Examples
    --------
    >>> look_like_people(["Patel, Ava", "O'Neill, Leo", "Smith, John"]), look_like_people(["New York", "Los Angeles"])
    (True, False)
    """
    matches = [match for text in texts if (match := _matched(text.strip())) is not None]
    if not matches or len(matches) < FORMED * len(texts):
        return False
    given = sum(match[1].casefold() in GIVEN_NAMES for match in matches)
    return given >= GIVEN * len(texts)


def _matched(text: str) -> re.Match[str] | None:
    """The name in a text, whose first group is the given name."""
    return _LAST_FIRST.fullmatch(text) or _FIRST_LAST.fullmatch(text)
