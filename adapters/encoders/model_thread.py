"""A model's work on a thread, never on the event loop: with a deadline, and with torch's errors as ours."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from core.model.errors import ModelUnavailable

T = TypeVar("T")


async def run_model(thread: ThreadPoolExecutor, do: Callable[[], T], seconds: float, name: str) -> T:
    """Return what ``do`` returns. Raises ModelUnavailable after so many seconds, and where torch gives up."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.get_running_loop().run_in_executor(thread, do)
    except TimeoutError as error:
        raise ModelUnavailable(f"The model {name} took longer than {seconds:g} s.") from error
    except RuntimeError as error:  # torch's own: out of memory, above all
        raise ModelUnavailable(f"The model {name} failed: {str(error).partition(chr(10))[0][:200]}.") from error
