"""Server of a tournament's site."""

from __future__ import annotations

import socket

import uvicorn

from scenarios.tournament.site.pages.live_updates import LiveUpdates


class SiteServer(uvicorn.Server):
    """Server of a site that ends live connections when it stops; uvicorn waits for them and then cuts them off.

    Parameters
    ----------
    config : uvicorn.Config
        Configuration of the server.
    updates : LiveUpdates
        The live connections of the site.
    """

    def __init__(self, config: uvicorn.Config, updates: LiveUpdates) -> None:
        super().__init__(config)
        self._updates = updates

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections and stop."""
        self._updates.stop()
        await super().shutdown(sockets)
