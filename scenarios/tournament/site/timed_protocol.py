"""HTTP connections with time limits."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVED = "tokumei.arrived"
"""Key of a request's scope for the time of the event loop at which its last byte was read."""


@dataclass(frozen=True)
class TimeLimits:
    """Time limits of a connection, in seconds.

    Attributes
    ----------
    header : float
        Longest time in which the header of a request arrives, from the connection or the last response on.
    body : float
        Longest time in which the body of a request arrives after the response to it, if the response did not wait for
        the body. The form reader limits the time before the response.
    stalled : float
        Longest time in which a client reads nothing of what waits to be sent.
    """

    header: float = 10.0
    body: float = 120.0
    stalled: float = 60.0

    @property
    def every(self) -> float:
        """Seconds between two looks at a connection."""
        return min(self.header, self.body, self.stalled) / 4


class TimedProtocol(H11Protocol):
    """HTTP/1.1 whose slow clients are disconnected.

    uvicorn itself waits for a header without a limit. Clients that send a byte a second could hold all connections
    (Slowloris). Clients that read nothing could hold the memory of their responses. If all connections are taken, a new
    one ends the one that has waited longest for its header.
    """

    limits = TimeLimits()
    """Time limits of all connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and look at it from time to time."""
        self.idle_since = self.loop.time()
        self._unread = self._looks = 0
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency - 1:
            self._make_room()
        super().connection_made(transport)
        _end_without_acknowledgement(transport, self.limits.stalled)
        self._look = self.loop.call_later(self.limits.every, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the looks at the connection."""
        self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def handle_events(self) -> None:
        """Note when the last byte of a request was read, which under load is long before the request is handled."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.more_body:
            cast("dict[str, Any]", self.cycle.scope).setdefault(ARRIVED, self.loop.time())

    @property
    def waits_for_header(self) -> bool:
        """Whether no request is being answered, and none has arrived up to its body."""
        return self._idle and self.conn.their_state is not h11.SEND_BODY

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _check(self) -> None:
        """Disconnect a client that is too slow."""
        now = self.loop.time()
        unread = self.transport.get_write_buffer_size()
        # Looks are counted, since no client is at fault for the time in which the server itself was held up.
        self._looks = self._looks + 1 if unread and unread >= self._unread else 0
        self._unread = unread
        longest = self.limits.header if self.waits_for_header else self.limits.body
        stalled = self._looks * self.limits.every >= self.limits.stalled
        late = self._idle and not unread and now - self.idle_since > longest
        if stalled or late:
            self.transport.abort()
        else:
            self._look = self.loop.call_later(self.limits.every, self._check)

    def _make_room(self) -> None:
        """End the connection that has waited longest for the header of its request."""
        connections: set[Any] = self.connections
        waiting = [one for one in connections if one.waits_for_header and not one.transport.is_closing()]
        if waiting:
            min(waiting, key=lambda one: one.idle_since).transport.abort()


def _end_without_acknowledgement(transport: asyncio.Transport, seconds: float) -> None:
    """Let the kernel end a connection whose client has vanished, where it can; the default is a quarter of an hour."""
    connection = transport.get_extra_info("socket")
    if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * seconds))
