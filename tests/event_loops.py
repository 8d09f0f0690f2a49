"""Coroutines in tests that are not asynchronous."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_coroutine[T](coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in a thread of its own: after a browser test, Playwright's event loop goes on running in the main thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
