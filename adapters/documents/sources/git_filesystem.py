"""fsspec file system of a local git repository at a branch, tag or commit: git:///srv/handbook@main/docs.

It reads the repository's objects (dulwich), ignores the working tree and runs nothing from the repository. A slash in a
branch name is written %2F.
"""

from typing import Any
from urllib.parse import unquote

from fsspec import AbstractFileSystem


class GitFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec publishes no types
    """Read-only file system of one commit's tree."""

    protocol = "git"
    root_marker = ""
    cachable = False

    def __init__(self, repository: str = "", ref: str = "HEAD", **options: Any) -> None:
        from dulwich.repo import Repo

        super().__init__(**options)
        self.repository = Repo(repository)
        self._tree = self.repository[_commit(self.repository, ref)].tree

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        if not path.startswith("git://"):
            return path.strip("/")
        return path.partition("@")[2].partition("/")[2].strip("/") if "@" in path else ""

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, str]:
        repository, _, rest = path.removeprefix("git://").partition("@")
        return {"repository": repository, "ref": unquote(rest.partition("/")[0]) or "HEAD"}

    @property
    def remote(self) -> str:
        """The URL that the repository was cloned from, or ''."""
        try:
            return str(self.repository.get_config().get((b"remote", b"origin"), b"url").decode())
        except KeyError:
            return ""

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        """Return a file's or folder's name, type, size in bytes and hash."""
        from dulwich.objects import Tree

        path = self._strip_protocol(path)
        found, mode = self._object_at(path)
        folder = isinstance(found, Tree)
        return {
            "name": path,
            "type": "directory" if folder else "file",
            "size": 0 if folder else found.raw_length(),
            "sha": found.id.decode(),
            "islink": mode == 0o120000,
        }

    def ls(self, path: str, detail: bool = True, **_options: Any) -> list[Any]:
        """Return the entries of a folder without submodules."""
        from dulwich.objects import Tree

        path = self._strip_protocol(path)
        found, _ = self._object_at(path)
        if not isinstance(found, Tree):
            return [self.info(path)] if detail else [path]
        names = [
            f"{path}/{entry.path.decode('utf-8', 'replace')}".lstrip("/")
            for entry in found.iteritems()
            if entry.mode != 0o160000
        ]
        return [self.info(name) for name in names] if detail else names

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_options: Any) -> bytes:
        """Return a file's bytes."""
        found, _ = self._object_at(self._strip_protocol(path))
        return bytes(found.as_raw_string()[start:end])

    def _object_at(self, path: str) -> tuple[Any, int]:
        """Return the object at a path and its mode. Raises FileNotFoundError."""
        found, mode = self.repository[self._tree], 0o040000
        for name in filter(None, path.split("/")):
            try:
                mode, sha = found[name.encode()]
            except (KeyError, TypeError, AttributeError) as error:
                raise FileNotFoundError(path) from error
            found = self.repository[sha]
        return found, mode


def _commit(repository: Any, ref: str) -> bytes:
    """Return the commit id of a branch, tag or commit name. Raises FileNotFoundError."""
    from dulwich.objects import Tag

    for name in (f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/remotes/origin/{ref}", ref):
        try:
            found = repository[name.encode()]
        except (KeyError, ValueError, AssertionError):
            continue
        while isinstance(found, Tag):
            found = repository[found.object[1]]
        return bytes(found.id)
    raise FileNotFoundError(f"no branch, tag or commit {ref}")
