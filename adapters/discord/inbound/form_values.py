"""What a form of ours brought back: the texts that were typed into it, and the files that were put into it."""

from collections.abc import Mapping
from typing import Any

import discord

from core.model.incoming_events import FileReference


def entered_texts(components: object) -> list[str]:
    """The texts of a form that was sent."""
    found: list[str] = []
    for component in components if isinstance(components, list) else []:
        if isinstance(component.get("value"), str):
            found.append(component["value"])
        found += entered_texts(component.get("components"))
        found += entered_texts([component["component"]] if component.get("component") else None)
    return found


def uploaded_files(data: Mapping[str, Any]) -> tuple[FileReference, ...]:
    """The files of a form that was sent, in the order in which they were chosen."""
    attachments = (data.get("resolved") or {}).get("attachments") or {}
    found = [attachments[one] for one in _upload_ids(data.get("components")) if one in attachments]
    return tuple(FileReference(str(one["url"]), str(one["filename"]), int(one["size"])) for one in found)


def _upload_ids(components: object) -> list[str]:
    found: list[str] = []
    for component in components if isinstance(components, list) else []:
        if component.get("type") == discord.ComponentType.file_upload.value:
            found += [str(one) for one in component.get("values") or ()]
        found += _upload_ids([component["component"]] if component.get("component") else None)
    return found
