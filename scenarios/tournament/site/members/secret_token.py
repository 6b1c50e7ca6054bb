"""Random tokens of sessions, invitations and forms, and their hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_token() -> str:
    """A random token of 256 bits, in letters that may stand in a URL."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """Hash of a token, shape (32,) bytes. The token has 256 random bits, so a fast hash suffices."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def form_token(cookie: str) -> str:
    """Token that a form must send back, derived from the browser's secret cookie (a keyed hash)."""
    return hmac.new(cookie.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def same_form_token(cookie: str, sent: str) -> bool:
    """Whether a form sent the token of its browser's cookie; compared in constant time."""
    return hmac.compare_digest(form_token(cookie).encode(), sent.encode("utf-8", "replace"))
