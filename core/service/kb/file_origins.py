"""Naming of local files in a base: a document belongs to the place that it came from, whatever that is called.

The first folder of a name gets that name in a base; a second folder of the same name gets a different one. A file
within a known folder belongs to that folder. The documents' origins are the only record of folders, so backups, removed
bases and restored documents need no other.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Material
from core.ingestion.trash import Trash
from core.model.document_content import UPLOAD, LocalFile, NamedFile, folder_of, folder_origin
from core.model.errors import DocumentRejected
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.service.kb.text_spans import count

OTHER_NAME = "“{name}” is already the name of {what}, so the documents in {folder} are added as “{other}”."
SAME_FOLDER = "If it is the same folder, remove “{other}” and run the command again with --name “{name}”."
UNKNOWN = "documents from a folder that is not known"  # written by a version that did not record origins
UPLOADED = "files that were uploaded"
MOST_NAMED = 5  # documents in a note


@dataclass(frozen=True, slots=True)
class KeptFolder:
    """Existing documents that are now known to come from this folder. None of them was encoded again."""

    name: str
    folder: str
    documents: int
    moved_from: str = ""  # the folder they came from before, where one was known

    def __str__(self) -> str:
        before = f", which was {self.moved_from}" if self.moved_from else ""
        return f"Kept {count(self.documents, 'document')} of “{self.name}” as before, from {self.folder}{before}."


@dataclass(frozen=True, slots=True)
class FileNaming:
    """Local files with their sources in one base.

    ``missing``: sources that came from these folders but are no longer in them. ``notes`` are for the operator.
    """

    files: tuple[NamedFile, ...]
    kept: tuple[KeptFolder, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missing_note(self) -> str:
        """Return a note on documents that are no longer in these folders, with the first few names; or ''."""
        if not self.missing:
            return ""
        more = f" and {len(self.missing) - MOST_NAMED} more" if len(self.missing) > MOST_NAMED else ""
        what = f"{', '.join(self.missing[:MOST_NAMED])}{more}"
        return f"No longer in this folder, but still indexed: {what}. They are used for answers until you remove them."


@dataclass(frozen=True, slots=True)
class FileOrigins:
    """Names files by their place. ``installation`` returns an id that tells this home's folders from another's."""

    catalog: Catalog
    trash: Trash
    ingestor: Ingestor
    installation: Callable[[], str]

    async def name_files(
        self, files: Sequence[LocalFile], base: str, *, name: str = "", dry: bool = False
    ) -> FileNaming:
        """Return the files with their sources. With ``name``, their folder gets or takes over that name.

        Documents that turn out to come from a folder are recorded as such, unless ``dry``. Raises DocumentRejected for
        a name that cannot be used, and StoreUnavailable.
        """
        documents = await self.catalog.documents(frozenset({base}))
        removed = [one.document for one in await self.trash.restorable(base)]
        installation = await asyncio.to_thread(self.installation)
        naming = await asyncio.to_thread(_Naming, self, installation, _by_name(documents), _by_name(removed), dry)
        by_root: dict[Path, list[LocalFile]] = {}
        for file in files:
            by_root.setdefault(file.root, []).append(file)
        if name and (len(by_root) != 1 or not _is_name(name)):
            raise DocumentRejected(
                f"“{name[:80]}” cannot be the name of {'several folders' if len(by_root) > 1 else 'a folder'}.",
                remedy="Name one folder or file, without slashes.",
            )
        for root in sorted(by_root, key=lambda one: len(one.parts)):  # a folder before those inside it
            await naming.find_single_files(root, by_root[root])
            await naming.settle(root, by_root[root], name)
        named = await asyncio.to_thread(lambda: {file.path: naming.name(file.path) for file in files})
        missing = await asyncio.to_thread(naming.find_missing, by_root, named.values())
        return FileNaming(tuple(named.values()), tuple(naming.kept), missing, tuple(naming.notes))


@dataclass(slots=True)
class _Naming:
    """The names in a base while files are being named. Some methods read the disk."""

    origins: FileOrigins
    installation: str
    documents: dict[str, list[Document]]  # by the first part of their sources
    removed: dict[str, list[Document]]
    dry: bool
    folders: dict[str, str] = field(default_factory=dict)  # names of this installation's folders
    names: dict[str, str] = field(default_factory=dict)  # the folders by their names
    targets: dict[str, str] = field(default_factory=dict)  # the same folders by their resolved paths
    kept: list[KeptFolder] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for there in (self.documents, self.removed):
            new = {name: self._folders_of(documents) for name, documents in there.items()}
            for name, folders in new.items():
                if name not in self.names:
                    for folder in sorted(folders - self.folders.keys(), key=os.path.lexists):
                        self._call(folder, name)  # prefer a folder that exists; the others have moved

    def _folders_of(self, documents: Iterable[Document]) -> set[str]:
        """Return this installation's folders that these documents came from."""
        return {folder for one in documents if self._origin(folder := folder_of(one.origin)) == one.origin}

    # --- folders of paths

    def _call(self, folder: str, name: str) -> None:
        self.folders.pop(self.names.get(name, ""), None)
        self.folders[folder], self.names[name] = name, folder
        self.targets[os.path.realpath(folder)] = folder

    def _find(self, path: Path) -> tuple[str, str] | None:
        """Return the nearest known folder or file that contains a path, and the path inside it; None without one."""
        for place in dict.fromkeys((path, path.resolve())):
            for above in (place, *place.parents):
                folder = _text(above)
                folder = folder if folder in self.folders else self.targets.get(folder, "")
                if folder in self.folders:
                    return folder, _text(place.relative_to(above)) if place != above else ""
        return None

    def _origin(self, folder: Path | str) -> str:
        return folder_origin(self.installation, _text(folder))

    def name(self, path: Path) -> NamedFile:
        """Return the file with its source and its origin, once its folder has a name."""
        found = self._find(path)
        assert found is not None, path
        folder, inside = found
        name = self.folders[folder]
        return NamedFile(path, f"{name}/{inside}" if inside else name, self._origin(folder))

    # --- names of folders

    async def settle(self, root: Path, files: Sequence[LocalFile], name: str) -> None:
        """Give a folder, or a single file, its name. Raises DocumentRejected."""
        known = await asyncio.to_thread(self._find, root)
        if known is not None and name and name != self.folders[known[0]]:
            taken = f"{root} is already called “{self.folders[known[0]]}” here."
            raise DocumentRejected(taken, remedy="Run the command without --name, or remove its documents first.")
        if known is not None and known[1]:
            return
        own = _text((await asyncio.to_thread(root.resolve)).name) or "files"
        wished = name or (self.folders[known[0]] if known else own)
        holders = self._holders(wished) - {self._origin(known[0] if known else root)}
        moved = all([await asyncio.to_thread(self._may_have_moved, one) for one in holders])
        if not holders and (known or wished not in self.names):
            self._call(known[0] if known else _text(root), wished)
        elif name:
            self._check_free(name, holders)
            await self._adopt(root, name, holders)
        elif moved and (known or await self._has_unchanged(root, files, wished)):
            await self._adopt(root, wished, holders)
        elif not known and (gone := await self._moved_name(root, files)):
            await self._adopt(root, gone, self._holders(gone))
        elif not known:
            self._call_otherwise(root, wished, holders, moved=moved)

    async def _moved_name(self, root: Path, files: Sequence[LocalFile]) -> str:
        """Return the name of a deleted folder of the same name that held one of these files; or empty."""
        for folder, name in list(self.folders.items()):
            if Path(folder).name != root.name or not await asyncio.to_thread(
                self._may_have_moved, self._origin(folder)
            ):
                continue
            if self._holders(name) == {self._origin(folder)} and await self._has_unchanged(root, files, name):
                return name
        return ""

    def _holders(self, name: str) -> set[str]:
        """Return the origins of documents with this name. Removed documents count only if their origin is known."""
        there = {one.origin for one in self.documents.get(name, ())}
        return there | {one.origin for one in self.removed.get(name, ()) if one.origin}

    def _may_have_moved(self, origin: str) -> bool:
        """Return whether this origin's folder is unknown, or was this installation's and no longer exists."""
        folder = folder_of(origin)
        return not origin or (origin == self._origin(folder) and not Path(folder).exists())

    def _check_free(self, name: str, holders: Collection[str]) -> None:
        """Raise DocumentRejected if an existing folder, or uploaded files, already have this name."""
        for origin in holders:
            folder = folder_of(origin)
            if origin == UPLOAD or (origin == self._origin(folder) and Path(folder).exists()):
                what = UPLOADED if origin == UPLOAD else f"{folder}, which is still there"
                raise DocumentRejected(f"“{name}” is the name of {what}.", remedy="Choose another name.")

    async def _adopt(self, root: Path, name: str, holders: Collection[str]) -> None:
        """Record that documents of this name and these origins come from this folder. Encodes nothing."""
        known, theirs = [], self.documents.get(name, [])
        kept = 0
        for one in theirs:
            now = replace(one, origin=self._origin(root)) if one.origin in holders else one
            kept += now is not one and (self.dry or await self.origins.catalog.republish(now))
            known.append(now)
        self.documents[name] = known
        self._call(_text(root), name)
        if kept:
            before = next(filter(None, map(folder_of, holders)), "")
            self.kept.append(KeptFolder(name, _text(root), kept, before))

    async def find_single_files(self, root: Path, files: Sequence[LocalFile]) -> None:
        """Record files of a folder that an older version added one by one, under their file names."""
        inside = {one.source for one in self.documents.get(_text(root.name), ())}
        for file in files:
            alone, source = _text(file.path.name), _text(Path(root.name) / file.path.relative_to(root))
            unknown = any(not one.origin and one.source == alone for one in self.documents.get(alone, ()))
            if not unknown or file.path == root or source in inside or self._find(file.path):
                continue
            if await self._has_unchanged(file.path, [file], alone):
                await self._adopt(file.path, alone, {""})

    def _call_otherwise(self, root: Path, wished: str, holders: Collection[str], *, moved: bool) -> None:
        """Give a folder a different name, because the one it would have is taken."""
        other = self._distinct(root, wished)
        self._call(_text(root), other)
        known = next(filter(None, holders), "")
        what = UPLOADED if known == UPLOAD else folder_of(known) or UNKNOWN
        lines = [OTHER_NAME.format(name=wished, what=what, folder=_text(root), other=other)]
        self.notes.append(" ".join([*lines, *([SAME_FOLDER.format(name=wished, other=other)] if moved else [])]))

    def _distinct(self, root: Path, wished: str) -> str:
        """Return a free name: with the folder above it, then with more folders above, then with a number."""
        taken = {*self.documents, *self.removed, *self.names}
        stem, suffix = (_text(root.stem), _text(root.suffix)) if root.is_file() else (wished, "")
        above = list(map(_text, root.parent.parts[1:]))
        names = [f"{stem} ({', '.join(above[-n:])}){suffix}" for n in range(1, len(above) + 1)]
        numbered = (f"{stem} ({n}){suffix}" for n in range(2, len(taken) + 3))
        return next(one for one in (*names, *numbered) if one not in taken)

    async def _has_unchanged(self, root: Path, files: Sequence[LocalFile], name: str) -> bool:
        """Return whether a document of this name was made of a file of this folder as it is now."""
        there = {one.source: one for one in self.documents.get(name, ())}
        for file in files:
            document = there.get(_text(Path(name) / file.path.relative_to(root)) if file.path != root else name)
            if document is None:
                continue
            try:
                data = await asyncio.to_thread(file.path.read_bytes)
            except OSError:
                continue
            material = Material(document.source, file.path.name, data)
            if await self.origins.ingestor.find_unchanged(material, document.knowledge_base) is not None:
                return True
        return False

    def find_missing(self, roots: Iterable[Path], found: Iterable[NamedFile]) -> tuple[str, ...]:
        """Return the sources that came from these folders and no longer exist."""
        there = {one.source for one in found}
        asked = [_text(root) for root in roots if root.is_dir()]
        gone = []
        for one in (one for documents in self.documents.values() for one in documents):
            folder, inside = folder_of(one.origin), one.source.partition("/")[2]
            if one.origin != self._origin(folder) or one.source in there:
                continue
            if any(_is_within(f"{folder.rstrip('/')}/{inside}", root) for root in asked):
                gone.append(one.source)
        return tuple(sorted(gone))


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _by_name(documents: Iterable[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for one in documents:
        found.setdefault(one.source.partition("/")[0], []).append(one)
    return found


def _is_name(name: str) -> bool:
    return name == name.strip() and 0 < len(name) <= 120 and not set("/\\\x00\n\r\t") & set(name) and name[0] != "."


def _text(name: object) -> str:
    """Return a name with any bytes that are not UTF-8 escaped, so that it can be stored and shown."""
    return os.fsencode(str(name)).decode("utf-8", "backslashreplace")
