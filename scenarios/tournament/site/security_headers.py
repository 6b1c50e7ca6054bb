"""Security headers of every response."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ONLY_TLS = "max-age=31536000"
"""A browser that has come by TLS comes by TLS only for a year."""


class SecurityHeaders:
    """Adds the security headers to every response; a response may bring a content security policy of its own.

    Parameters
    ----------
    app : ASGIApp
        The application.
    secure : bool
        Whether visitors come by TLS.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self.app = app
        self.headers = {**HEADERS, **({"Strict-Transport-Security": ONLY_TLS} if secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                own = headers.get("Content-Security-Policy")
                headers.update(self.headers)
                if own is not None:
                    headers["Content-Security-Policy"] = own
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
