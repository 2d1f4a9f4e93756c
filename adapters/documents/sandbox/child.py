"""The process in which untrusted bytes are parsed: limits on itself, no network, one file after another.

Started by `pool.Sandbox` as `python -m adapters.documents.sandbox.child MEMORY CPU_SECONDS OUTPUT_BYTES TASK`.
Reads requests on stdin and answers on what was stdout; whatever a library prints goes nowhere.
"""

import ctypes
import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from adapters.documents.sandbox.protocol import LENGTH, WHOLE_FILE, PageWanted, frame, from_parsed
from core.model.errors import DocumentRejected, NoText

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
RECURSION = 600
"""Python frames; honest documents are not nested deeper, and C stacks stay far from their end."""

_FORBIDDEN = frozenset({
    "socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
    "socket.sendmsg", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
    "os.spawn", "os.kill", "os.remove", "os.rename", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink",
    "os.truncate", "ftplib.connect", "smtplib.connect", "urllib.Request", "webbrowser.open", "ctypes.call_function",
})  # fmt: skip


def main() -> None:
    """Serve requests until stdin ends."""
    memory, cpu_seconds, output_bytes = map(int, sys.argv[1:4])
    task = sys.argv[4]
    requests, answers = sys.stdin.buffer, _private_stdout()
    leave_network()
    limit(memory)
    forbid()
    sys.setrecursionlimit(RECURSION)
    try:
        _serve(requests, answers, cpu_seconds, output_bytes, task)
    finally:
        with suppress(OSError):
            Path.cwd().rmdir()  # who started us removes it too, unless they were killed


def _serve(requests: BinaryIO, answers: BinaryIO, cpu_seconds: int, output_bytes: int, task: str) -> None:
    data = b""
    while header := _read_frame(requests):
        if "size" in header:  # else it is about the same file again
            data = _exactly(requests, int(header["size"]))
        allow_cpu(cpu_seconds)
        page = PageWanted.of(header)
        answer = frame(*answer_for(str(header["name"]), data, task, page))
        if len(answer) > output_bytes:
            answer = frame(
                {"rejected": f"Its text is over {output_bytes:,} bytes, more than is indexed from one file."}
            )
        answers.write(answer)
        answers.flush()
        data = data if page.number is not None else b""
        del answer


def _run_task(name: str, data: bytes, task: str, page: PageWanted) -> list[dict[str, Any]]:
    """Return the reading of a file or a page, or a page's picture, as messages."""
    if task == "draw":
        import base64

        from adapters.documents.page_images import draw

        drawn = draw(data, page.number or 1, page.quote)
        return [drawn | {"png": base64.b64encode(drawn["png"]).decode()}]
    if task == "recognize":
        from adapters.documents.ocr import read_page

        return from_parsed(read_page(name, _member(data, page.member), page.number or 1))
    from adapters.documents import reader

    return from_parsed(reader.read(name, data))


def _member(data: bytes, path: str) -> bytes:
    """Return a file within an archive, or without a path the file itself. Raises DocumentRejected."""
    if not path:
        return data
    from adapters.documents.zip_package import open_package, part

    with open_package(data) as package:
        return part(package, path)


def answer_for(name: str, data: bytes, task: str = "parse", page: PageWanted = WHOLE_FILE) -> list[dict[str, Any]]:
    """Return the reading of one file or page, or its picture, or why there is none, as messages."""
    try:
        return _run_task(name, data, task, page)
    except DocumentRejected as rejected:
        empty = isinstance(rejected, NoText)
        return [{"rejected": Exception.__str__(rejected), "remedy": rejected.remedy, "without_text": empty}]
    except MemoryError:
        return [{"rejected": "Reading it needs more memory than one file may use.", "fatal": True}]
    except RecursionError:
        return [{"rejected": "It is nested too deeply to be read.", "fatal": True}]
    except Exception as error:  # noqa: BLE001 - the parsers' outer edge: any failure is this file's, not ours
        if "memory" in str(error).lower():  # lxml and pdfium report a failed allocation in their own words
            return [{"rejected": "Reading it needs more memory than one file may use.", "fatal": True}]
        return [{"rejected": f"It is damaged and cannot be read ({type(error).__name__}).", "fatal": True}]


def leave_network() -> None:
    """Enter a network namespace without interfaces, where the system lets us (Linux)."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)


def limit(memory: int) -> None:
    """Bound memory (bytes; Linux enforces it), file sizes, open files; no core dumps."""
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 64 * 1024 * 1024),
        (resource.RLIMIT_NOFILE, 128),
    ):
        if most:
            _set_limit(kind, most)
        elif kind == resource.RLIMIT_CORE:
            _set_limit(kind, 0)


def allow_cpu(seconds: int) -> None:
    """Processor seconds for the next file, counted from what has been used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def forbid() -> None:
    """No sockets, no processes, no changes to files outside the working directory, for this process's life.

    The working directory itself may go, once it is empty.
    """
    home = str(Path.cwd())

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _FORBIDDEN and not (event == "os.rmdir" and arguments[0] == home):
            raise PermissionError(f"{event} is not allowed while parsing")
        if event == "open" and _writes(arguments) and not str(arguments[0]).startswith(home + os.sep):
            raise PermissionError("writing is not allowed while parsing")

    sys.addaudithook(refuse)


def _writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def _set_limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (bound, bound))
    except (ValueError, OSError):  # macOS refuses some: the parent watches memory there
        return


def _private_stdout() -> BinaryIO:
    """Keep the answers' pipe for ourselves; what libraries print goes to the null device."""
    pipe = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return pipe


def _read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    message: dict[str, Any] = json.loads(_exactly(stream, LENGTH.unpack(head)[0]))
    return message


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        _exit_without_parent()
    return data


def _exit_without_parent() -> NoReturn:
    """Return the parent went away in the middle of a request."""
    sys.exit(0)


if __name__ == "__main__":
    main()
