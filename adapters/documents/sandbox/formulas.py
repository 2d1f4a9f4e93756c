"""Computation of missing formula values with LibreOffice, if it is installed.

It runs without a network, with limits on memory, time and files, and with its own directory and profile. If the system
does not allow a process to leave the network, it does not run, because a formula could fetch a URL.
"""

import asyncio
import ctypes
import os
import resource
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import adapters
from adapters.documents.sandbox.child import CLONE_NEWNET, CLONE_NEWUSER

MB = 1024 * 1024
MAX_BYTES = 10 * MB
"""A larger workbook is read without computed values."""

SECONDS = 60.0
ADDRESS_SPACE = 3_072 * MB
"""LibreOffice reserves far more than the roughly 200 MB that it uses."""

_RESTARTS = (79, 81)
"""Exit codes with which LibreOffice requests a restart after it has set up a new profile."""

_one_at_a_time = asyncio.Semaphore(1)


def office() -> str | None:
    """Return the path of the LibreOffice program, or None if it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


async def computed(data: bytes) -> bytes | None:
    """Return the workbook with computed formula values, or None if that fails for any reason."""
    program = office()
    if program is None or len(data) > MAX_BYTES or sys.platform != "linux":
        return None
    async with _one_at_a_time:
        with tempfile.TemporaryDirectory(prefix="footnote-office-", ignore_cleanup_errors=True) as home:
            await asyncio.to_thread((Path(home) / "book.xlsx").write_bytes, data)
            for _ in range(3):
                code = await _run(program, home)
                if code not in _RESTARTS:
                    break
            return await asyncio.to_thread(_result, Path(home) / "out" / "book.xlsx")


def _result(path: Path) -> bytes | None:
    with suppress(OSError):
        if path.stat().st_size <= 5 * MAX_BYTES:
            return path.read_bytes()
    return None


async def _run(program: str, home: str) -> int:
    """Run LibreOffice once and return its exit code, or -1 after a timeout; kill everything that it started."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-s", "-B", "-m", "adapters.documents.sandbox.formulas", program, home,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=home,
        env={"PATH": os.environ.get("PATH", ""), "HOME": home, "LANG": "C.UTF-8",
             "PYTHONPATH": str(Path(adapters.__path__[0]).parent)},
        start_new_session=True,
    )  # fmt: skip
    try:
        return await asyncio.wait_for(process.wait(), SECONDS)
    except TimeoutError:
        return -1
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def main() -> None:
    """Replace this process with LibreOffice, without a network and within limits."""
    program, home = sys.argv[1:3]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0 and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        sys.exit("this system does not let a process leave the network")
    for kind, most in (
        (resource.RLIMIT_AS, ADDRESS_SPACE),
        (resource.RLIMIT_CPU, int(SECONDS)),
        (resource.RLIMIT_FSIZE, 64 * MB),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    os.execv(program, [  # noqa: S606 - this process becomes LibreOffice; there is no shell
        program, "--headless", "--norestore", "--nologo", "--nolockcheck", f"-env:UserInstallation=file://{home}/profile",
        "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", f"{home}/out", f"{home}/book.xlsx",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
