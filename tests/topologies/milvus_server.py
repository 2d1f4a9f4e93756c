"""The real Milvus server that PyPI carries: 2.3.5, standalone, without BM25 functions."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import Any

from adapters.milvus.collection import SERVER_CONSISTENCY, CollectionRecord, fields_of
from adapters.milvus.index import Leg, MilvusIndex
from tests.topologies.servers import free_port

AVAILABLE = find_spec("milvus") is not None
SECONDS = 60.0


ATTEMPTS = 3  # to start it: it takes ten seconds, and has come to nothing in its own three minutes on a busy machine

# In a process of its own: the package leaves sockets and files open where it looks for ports. One of its ports would be
# taken from those that the system gives to whoever connects.
PROGRAM = """
import sys
from milvus import MilvusServer
server = MilvusServer(root_coord_port=int(sys.argv[2]))
server.set_base_dir(sys.argv[1])
try:
    server.start()
    print(server.listen_port, flush=True)
    sys.stdin.readline()
finally:
    server.stop()
"""


@contextmanager
def milvus_server() -> Iterator[str]:
    """Its address. Raises AssertionError, with the last that was said, where it does not start."""
    said = ""
    with ExitStack() as stack:
        for _ in range(ATTEMPTS):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="milvus-server-", ignore_cleanup_errors=True)))
            port, said = stack.enter_context(_started(folder))
            if port:
                yield f"http://127.0.0.1:{port}"
                return
        raise AssertionError(f"{ATTEMPTS} times PyPI's Milvus server did not start: {said}")


@contextmanager
def _started(folder: Path) -> Iterator[tuple[int, str]]:
    """Its port, or 0 and the last that was said."""
    command = [sys.executable, "-c", PROGRAM, str(folder), str(free_port())]
    process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    port = process.stdout.readline().strip()
    try:
        yield (int(port), "") if port else (0, process.stderr.read().strip().rpartition("\n")[2])
    finally:
        process.communicate("stop\n" if port else None, timeout=120)


class DenseMilvusIndex(MilvusIndex):
    """The index as it is, but for what such a server does not have: the text is plain, and the lexical leg is empty."""

    _indexed = ("vector",)

    def _create(self, client: Any) -> None:
        from pymilvus import DataType

        record = CollectionRecord.new(self._model, self._dimension)
        schema = fields_of(client, record)
        schema.add_field("text", DataType.VARCHAR, max_length=65_535)
        client.create_collection(self._collection, schema=schema, consistency_level=SERVER_CONSISTENCY, timeout=SECONDS)

    def _ensure_collection(self, client: Any) -> None:
        if not client.has_collection(self._collection, timeout=SECONDS):
            self._create(client)
        super()._ensure_collection(client)

    async def _lexical_leg(self, *_: object) -> Leg:
        return Leg()
