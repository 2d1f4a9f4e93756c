"""Model inference on a thread instead of the event loop, with a timeout and translated torch errors."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from core.model.errors import ModelUnavailable

T = TypeVar("T")


async def run_model(thread: ThreadPoolExecutor, do: Callable[[], T], seconds: float, name: str) -> T:
    """Return ``do()``. Raises ModelUnavailable after the timeout, and if torch fails."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.get_running_loop().run_in_executor(thread, do)
    except TimeoutError as error:
        raise ModelUnavailable(f"The model {name} took longer than {seconds:g} s.") from error
    except RuntimeError as error:  # torch's errors, mostly out of memory
        raise ModelUnavailable(f"The model {name} failed: {str(error).partition(chr(10))[0][:200]}.") from error
