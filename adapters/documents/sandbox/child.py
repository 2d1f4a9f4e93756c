"""The process that parses untrusted bytes: it limits itself, has no network, and reads one file after another.

`pool.Sandbox` starts it as `python -m adapters.documents.sandbox.child MEMORY CPU_SECONDS OUTPUT_BYTES TASK`. It reads
requests on stdin and answers on the original stdout; output printed by libraries is discarded.
"""

import ctypes
import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from adapters.documents.sandbox.protocol import LENGTH, WHOLE_FILE, PageWanted, frame, from_parsed
from core.model.errors import DocumentRejected, NoText

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
RECURSION = 600
"""Python frames. Real documents are not nested deeper, and C stacks stay far from their limit."""

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
            Path.cwd().rmdir()  # the parent removes it too, unless it was killed


def _serve(requests: BinaryIO, answers: BinaryIO, cpu_seconds: int, output_bytes: int, task: str) -> None:
    data = b""
    while header := _read_frame(requests):
        if "size" in header:  # otherwise the request is about the previous file
            data = _exactly(requests, int(header["size"]))
        allow_cpu(cpu_seconds)
        page = PageWanted.of(header)
        answer = frame(*answer_for(str(header["name"]), data, task, page))
        if len(answer) > output_bytes:
            answer = frame({"rejected": f"Its text is over {output_bytes:,} bytes, which is too much for one file."})
        answers.write(answer)
        answers.flush()
        data = data if page.number is not None else b""
        del answer


def _run_task(name: str, data: bytes, task: str, page: PageWanted) -> list[dict[str, Any]]:
    """Return the parsed file or page, or the image of a page, as messages."""
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
    """Return a file within an archive, or the file itself if the path is empty. Raises DocumentRejected."""
    if not path:
        return data
    from adapters.documents.zip_package import open_package, part

    with open_package(data) as package:
        return part(package, path)


def answer_for(name: str, data: bytes, task: str = "parse", page: PageWanted = WHOLE_FILE) -> list[dict[str, Any]]:
    """Return the parsed file or page, its image, or the reason for a refusal, as messages."""
    try:
        return _run_task(name, data, task, page)
    except DocumentRejected as rejected:
        empty = isinstance(rejected, NoText)
        return [{"rejected": Exception.__str__(rejected), "remedy": rejected.remedy, "without_text": empty}]
    except MemoryError:
        return [{"rejected": "Reading it needs too much memory.", "fatal": True}]
    except RecursionError:
        return [{"rejected": "It is nested too deeply to be read.", "fatal": True}]
    except Exception as error:  # noqa: BLE001 - the parsers' outer edge: any failure is this file's fault
        if "memory" in str(error).lower():  # lxml and pdfium report a failed allocation in their own words
            return [{"rejected": "Reading it needs too much memory.", "fatal": True}]
        return [{"rejected": f"It is damaged and cannot be read ({type(error).__name__}).", "fatal": True}]


def leave_network() -> None:
    """Enter a network namespace without interfaces, if the system allows it (Linux)."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)


def limit(memory: int) -> None:
    """Limit memory (bytes; enforced on Linux), file sizes and open files; disable core dumps."""
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
    """Allow this many CPU seconds for the next file, counted from the CPU time used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def forbid() -> None:
    """Forbid sockets, subprocesses and writes outside the working directory for the rest of this process's life.

    The empty working directory itself may be removed.
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
    except (ValueError, OSError):  # macOS refuses some; the parent watches memory there
        return


def _private_stdout() -> BinaryIO:
    """Keep the pipe for answers and send library output to the null device."""
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
        sys.exit(0)  # the parent closed the pipe in the middle of a request
    return data


if __name__ == "__main__":
    main()
