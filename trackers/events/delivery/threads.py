"""A thread with a database connection, for use from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


class DatabaseThread:
    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, name)

    async def ask(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, act)

    async def disconnect(self) -> None:
        """Close a connection that may be broken; the next statement opens another."""
        await self.ask(_disconnect)

    async def end(self) -> None:
        await self.disconnect()
        self._pool.shutdown()


def _disconnect() -> None:
    # This thread's own: each thread has its own connection.
    connection.close()
