"""Cache of pages that many visitors see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable

_MOST = 500
"""Number of pages that are kept."""


class PageCache:
    """Keeps a page as long as the state on which it depends; simultaneous visitors wait for one rendering."""

    def __init__(self) -> None:
        self._pages: dict[Hashable, tuple[Hashable, asyncio.Future[bytes]]] = {}

    async def get(self, name: Hashable, state: Hashable, render: Callable[[], Awaitable[bytes]]) -> bytes:
        """The page of a name and state; it is rendered once for each state.

        Parameters
        ----------
        name : hashable
            Name of the page.
        state : hashable
            On what its content depends.
        render : callable
            Returns the content.
        """
        kept = self._pages.get(name)
        if kept is None or kept[0] != state:
            if len(self._pages) >= _MOST:
                self._pages.clear()
            kept = state, asyncio.ensure_future(_awaited(render))
            self._pages[name] = kept
        try:
            return await asyncio.shield(kept[1])
        except BaseException:
            if kept[1].done() and self._pages.get(name) is kept:
                del self._pages[name]
            raise


async def _awaited(render: Callable[[], Awaitable[bytes]]) -> bytes:
    return await render()
