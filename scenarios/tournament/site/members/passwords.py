"""Hashing of passwords by Argon2id."""

from __future__ import annotations

import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from metrics.columns import refuse, require

SHORTEST, LONGEST = 10, 200
"""Fewest and most characters of a password."""


class Passwords:
    """Hashes and checks passwords.

    Parameters
    ----------
    hasher : PasswordHasher, optional
        Parameters of Argon2id; the default is that of argon2-cffi (RFC 9106, low memory: 64 MiB, three passes).

    References
    ----------
    A. Biryukov, D. Dinu, D. Khovratovich, S. Josefsson (2021), RFC 9106, section 4.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._dummy = self._hasher.hash("a password that nobody has")

    def hash(self, password: str) -> str:
        """Hash of a password, with its own random salt."""
        return self._hasher.hash(_normalized(password))

    def verify(self, stored: str | None, password: str) -> bool:
        """Whether a password has the stored hash.

        Without a stored hash, a dummy hash is checked and the answer is False. Time therefore does not reveal whether
        the account exists.
        """
        try:
            matches = self._hasher.verify(stored or self._dummy, _normalized(password))
        except (VerificationError, InvalidHashError):
            return False
        return matches and stored is not None


def check_password(password: str, repeated: str, name: str) -> None:
    """Check a new password.

    Raises
    ------
    ValueError
        If it is too short or too long, has fewer than four different characters, consists of the user's name, or was
        repeated differently.
    """
    require(
        SHORTEST <= len(password) <= LONGEST,
        f"a password has {SHORTEST} to {LONGEST} characters, this one has {len(password)}",
    )
    refuse(
        len(set(password)) < 4 or password.casefold().replace(name.casefold(), "") == "",
        "the password is too easy to guess; take several words, for example",
    )
    refuse(password != repeated, "the two passwords differ; write the same one twice")


def _normalized(password: str) -> str:
    """One form for the same characters, however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)
