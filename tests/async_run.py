"""Run a coroutine in a test, also where a browser test has run before in the same process."""

import asyncio
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Like `asyncio.run`. Playwright's synchronous interface leaves its own event loop in this
    thread until the last test, and two loops in a thread are refused."""
    of_playwright = _get_running_loop()
    _set_running_loop(None)
    try:
        return asyncio.run(coroutine)
    finally:
        _set_running_loop(of_playwright)
