"""The real Milvus server that PyPI carries: 2.3.5, standalone, without BM25 functions."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from adapters.milvus.collection_record import CollectionRecord
from adapters.milvus.index import Leg, MilvusIndex
from adapters.milvus.schema import SERVER_CONSISTENCY, fields_of

AVAILABLE = find_spec("milvus") is not None
SECONDS = 60.0


# In a process of its own: the package leaves sockets and files open where it looks for ports.
PROGRAM = """
import sys
from milvus import MilvusServer
server = MilvusServer()
server.set_base_dir(sys.argv[1])
server.start()
print(server.listen_port, flush=True)
sys.stdin.readline()
server.stop()
"""


@contextmanager
def milvus_server() -> Iterator[str]:
    """Its address. It takes about ten seconds to start."""
    with tempfile.TemporaryDirectory(prefix="milvus-server-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.communicate("stop\n", timeout=120)


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
