"""The `Format` declaration of a module of `formats`, and the table of all formats.

A format is one module with `FORMATS = (Format(…),)`. Modules of `adapters.documents.formats` are found automatically.
Other packages register theirs in the entry point group `footnote.formats`, whose entries name such a tuple.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple

from core.model.document_content import ParsedDocument

ENTRY_POINTS = "footnote.formats"


class Package(NamedTuple):
    """The members of a zip file, and the media type that its member `mimetype` declares, or ""."""

    names: frozenset[str]
    declared: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One media type: how its files are recognized and read.

    Attributes:
        media_type: what `read` returns; unique among formats.
        read: turns a file's name and bytes into blocks of Markdown. It runs in the sandbox and raises
            `DocumentRejected` with a reason that a person understands.
        label: its name in "Add Markdown, PDF …"; "" if another format of its module is listed instead.
        suffixes: file name endings in lower case, without the dot.
        promises: for a binary format, what its suffix promises ("Word document"); text under that suffix is refused.
        html_under_suffix: whether programs save web pages under its suffix; these are read as web pages.
        in_bytes: whether a file's bytes are in this format.
        in_package: whether a zip file is in this format.
        in_compound: whether an old Microsoft compound file is in this format, from its stream paths in lower case.
        in_text: whether text is in this format, from the media type that its suffix promises (None if unknown) and its
            first 64 KB.
        text_by_content: whether text under its suffix that `in_text` does not recognize is plain text.
        rank: formats with a higher rank are tried first; fallback formats have a negative rank.
        pictures: the name for a file that contains only images, which only text recognition (OCR) can read.
        not_a_title: regular expression for titles that programs write by default ("Slide 1").
    """

    media_type: str
    read: Callable[[str, bytes], ParsedDocument]
    label: str = ""
    suffixes: tuple[str, ...] = ()
    promises: str = ""
    html_under_suffix: bool = False
    in_bytes: Callable[[bytes], bool] | None = None
    in_package: Callable[[Package], bool] | None = None
    in_compound: Callable[[frozenset[str]], bool] | None = None
    in_text: Callable[[str | None, str], bool] | None = None
    text_by_content: bool = False
    rank: int = 0
    pictures: str = ""
    not_a_title: str = ""


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, highest rank first.

    A plugin that cannot be imported is left out, so that other files can still be read; `footnote doctor` names it.
    """
    found = [*_own(), *(one for entry in entry_points(group=ENTRY_POINTS) for one in _of_plugin(entry.load))]
    return tuple(sorted(found, key=lambda one: -one.rank))


@cache
def by_media_type() -> Mapping[str, Format]:
    """Return the formats keyed by media type."""
    return {one.media_type: one for one in formats()}


@cache
def by_suffix() -> Mapping[str, Format]:
    """Return the formats keyed by file name suffix."""
    return {suffix: one for one in formats() for suffix in one.suffixes}


def _own() -> Iterator[Format]:
    package = importlib.import_module("adapters.documents.formats")
    for module in pkgutil.iter_modules(package.__path__):
        yield from getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "FORMATS", ())


def _of_plugin(load: Callable[[], tuple[Format, ...]]) -> tuple[Format, ...]:
    try:
        return load()
    except Exception:  # noqa: BLE001 - a plugin may fail with anything
        return ()
