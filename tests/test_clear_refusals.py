"""Errors of reading, storing and loading name the true cause and a remedy."""

import errno
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.documents.reader import detect
from adapters.encoders.model_files import ModelFiles, load_folder
from adapters.files.blob_store import FolderBlobStore
from core.model.errors import DocumentRejected, ModelUnavailable


@pytest.mark.parametrize("name", ["notes.txt", "letter.eml", "table.csv"])
def test_a_text_with_control_bytes_is_not_called_a_kind_that_is_not_read(name: str) -> None:
    with pytest.raises(DocumentRejected, match=r"control bytes\. .* Save it as text in UTF-8") as refused:
        detect(name, b"Refunds take 30 days.\x00\x01\x02\x03" * 20)
    assert "are not read" not in str(refused.value)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system without room."""
    folder = tmp_path / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("No file system can be mounted here.")
    with suppress(OSError):
        (folder / "filler").write_bytes(bytes(2**20))
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_is_said_with_the_folder_and_room_as_the_remedy(full_disk: Path) -> None:
    with pytest.raises(DocumentRejected, match=r"cannot be stored: the disk is full\. Free some disk space"):
        await FolderBlobStore(full_disk).keep("leave.md", bytes(2**17))


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 90 MB"),
    ],
)
def test_memory_that_lacks_is_not_called_a_model_that_is_not_whole(tmp_path: Path, error: Exception) -> None:
    def make(_folder: Path) -> None:
        raise error

    with pytest.raises(ModelUnavailable, match=r"not enough memory to load .* Give the process 2 GB"):
        load_folder(ModelFiles("m", tmp_path), make)
