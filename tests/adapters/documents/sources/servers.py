"""Real servers for the tests with file stores: S3 (moto) and SFTP (paramiko), each on a free port of this machine."""

import socket
import stat
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PASSWORD = "correct horse"


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of an S3 server, for AWS_ENDPOINT_URL."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    reset = urllib.request.Request(f"http://{host}:{port}/moto-api/reset", method="POST")
    with urllib.request.urlopen(reset, timeout=30):  # what it holds outlives a server in this process
        pass
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def sftp_server(root: Path, key: Any = None, answers: threading.Event | None = None) -> Iterator[int]:
    """The port of an SFTP server that shows this folder to anybody with the password, as soon as it ``answers``."""
    import paramiko

    key = key or paramiko.ECDSAKey.generate()
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    over = threading.Event()
    transports: list[Any] = []

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            transport = paramiko.Transport(connection)
            transport.add_server_key(key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _files_below(root, answers))
            transport.start_server(server=_door())
            transports.append(transport)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        over.set()
        thread.join()
        for transport in transports:
            transport.close()
        listening.close()


def _door() -> Any:
    import paramiko

    class Door(paramiko.ServerInterface):  # type: ignore[misc]
        def check_auth_password(self, username: str, password: str) -> int:
            return int(paramiko.AUTH_SUCCESSFUL if password == PASSWORD else paramiko.AUTH_FAILED)

        def get_allowed_auths(self, username: str) -> str:
            return "password"

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return int(paramiko.OPEN_SUCCEEDED)

    return Door()


def _files_below(root: Path, answers: threading.Event | None) -> Any:
    import paramiko

    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
        def _real(self, path: str) -> Path:
            return root / path.lstrip("/")

        def list_folder(self, path: str) -> Any:
            if not self._real(path).is_dir():
                return paramiko.SFTP_NO_SUCH_FILE
            return [
                paramiko.SFTPAttributes.from_stat(one.stat(), one.name) for one in sorted(self._real(path).iterdir())
            ]

        def stat(self, path: str) -> Any:
            if answers is not None:
                answers.wait()
            try:
                return paramiko.SFTPAttributes.from_stat(self._real(path).stat())
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno or 0)

        lstat = stat

        def open(self, path: str, flags: int, attr: Any) -> Any:
            handle = paramiko.SFTPHandle(flags)
            file = self._real(path)
            if not file.is_file() or stat.S_ISDIR(file.stat().st_mode):
                return paramiko.SFTP_NO_SUCH_FILE
            handle.readfile = file.open("rb")
            return handle

    return Files


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def gcs_server(bucket: str) -> Iterator[str]:
    """The address of a Google Cloud Storage server with this bucket, for STORAGE_EMULATOR_HOST."""
    from gcp_storage_emulator.server import create_server

    port = free_port()
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket=bucket)
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()


_AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def azure_server(program: str, folder: Path) -> Iterator[str]:
    """The connection string of an Azure Blob Storage server (azurite), with the account that it documents."""
    port = free_port()
    process = subprocess.Popen(
        [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent", "--skipApiVersionCheck",
         "--location", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for_port(port, process)
        yield (
            f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={_AZURITE_KEY};"
            f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
        )
    finally:
        process.terminate()
        process.wait(30)


def _wait_for_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{process.args!r} does not listen")
