"""ZIP: every document inside it, with blocks labelled by path. Nested archives are refused."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from adapters.documents import reader
from adapters.documents.format import Format
from adapters.documents.titles import stem
from adapters.documents.zip_package import check_sizes, open_package, part
from core.model.document_content import Block, ParsedDocument, PicturePage
from core.model.errors import DocumentRejected

ZIP = "application/zip"
MAX_DOCUMENTS = 1_000
MAX_NOTES = 20
_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".7z", ".rar", ".bz2", ".xz", ".zst", ".jar", ".war")
_LITTER = ("__MACOSX/", ".DS_Store", "Thumbs.db", ".git/")


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the documents in archive order; the notes name those that cannot be read."""
    notes: list[str] = []
    pictures: list[PicturePage] = []
    with open_package(data) as package:
        members = [member for member in package.infolist() if not _is_litter(member)]
        check_sizes(members)
        _refuse(members)
        blocks = tuple(_blocks(package, members, notes, pictures))
    if not blocks and not pictures:
        why = f": {notes[0]}" if notes else ""
        raise DocumentRejected(f"Nothing in this archive could be read{why}.")
    if len(notes) > MAX_NOTES:
        notes = [*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more that could not be read"]
    return ParsedDocument(
        title=stem(name),
        blocks=blocks,
        media_type=ZIP,
        notes=tuple(notes),
        picture_pages=tuple(pictures),
    )


def _refuse(members: list[zipfile.ZipInfo]) -> None:
    """Refuse paths that lead out of the archive, nested archives, links, and too many documents."""
    if len(members) > MAX_DOCUMENTS:
        raise DocumentRejected(f"This archive holds {len(members)} files; more than {MAX_DOCUMENTS} are not read.")
    for member in members:
        path = member.filename.replace("\\", "/")
        if path.startswith("/") or ".." in path.split("/") or path[1:2] == ":":
            raise DocumentRejected("A path in this archive points outside it, so the archive may be harmful.")
        if path.lower().endswith(_ARCHIVES):
            raise _nested_archive_error(path)
        if member.external_attr >> 28 == 0xA:
            raise DocumentRejected("This archive contains a symbolic link. Symbolic links are not read.")


def _blocks(
    package: zipfile.ZipFile, members: list[zipfile.ZipInfo], notes: list[str], pictures: list[PicturePage]
) -> Iterator[Block]:
    for member in members:
        path = member.filename.replace("\\", "/")
        data = part(package, member.filename)
        try:
            media_type = reader.detect(path, data)
        except DocumentRejected as rejected:
            notes.append(f"{path[:100]}: {Exception.__str__(rejected)}")
            continue
        if media_type == ZIP:
            raise _nested_archive_error(path)
        yield from _member(path, data, notes, pictures, member.filename)


def _member(path: str, data: bytes, notes: list[str], pictures: list[PicturePage], file_name: str) -> Iterator[Block]:
    """Yield one document's blocks labelled by path; its title becomes the top heading."""
    try:
        parsed = reader.read(path, data)
    except DocumentRejected as rejected:
        notes.append(f"{path[:100]}: {Exception.__str__(rejected)}")
        return
    notes.extend(f"{path[:100]}: {note}" for note in parsed.notes)
    pictures.extend(replace(page, member=file_name) for page in parsed.picture_pages)
    for i, block in enumerate(parsed.blocks):
        label = f"{path}: {block.label}" if block.label else path
        heading = "" if i or block.text.startswith("# ") else f"# {parsed.title}\n\n"
        lines = block.lines
        if heading and block.first_line is not None:
            own = lines or range(block.first_line, block.first_line + block.text.count("\n") + 1)
            lines = (block.first_line, block.first_line, *own)
        yield replace(block, text=heading + block.text, label=label, lines=lines)


def _nested_archive_error(path: str) -> DocumentRejected:
    return DocumentRejected(
        f"There is another archive inside this archive ({path[:100]}).", remedy="Unpack it and add the files."
    )


def _is_litter(member: zipfile.ZipInfo) -> bool:
    path = member.filename
    return member.is_dir() or any(mark in path for mark in _LITTER) or PurePosixPath(path).name.startswith("._")


FORMATS = (
    Format(
        media_type=ZIP,
        read=read,
        label="ZIP",
        suffixes=("zip",),
        promises="ZIP archive",
        in_package=lambda _package: True,
        rank=-1,
        pictures="This archive holds nothing but pictures",
    ),
)
