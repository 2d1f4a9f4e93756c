"""Matching local files to documents by their path, not by their folder's name."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from adapters.documents.folders import local_files
from core.model.document_content import FileContent, folder_of
from core.model.errors import Denied, DocumentRejected
from core.model.jobs import ItemState
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document
from core.service.kb.commands import KbVerb
from core.service.kb.file_origins import FileNaming
from core.service.kb.results import accepted_jobs
from tests.core.service.kb.knowledge_room import ADMIN, MEMBER, Room, words


@pytest.fixture
def room() -> Room:
    return Room()


def made(folder: Path, **files: str) -> Path:
    """A folder with these files; an underscore stands for the dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(f"# {name.partition('_')[0].title()}\n\n{text}")
    return folder


async def ingest(room: Room, *paths: Path, name: str = "", base: str = "default") -> tuple[FileNaming, list[ItemState]]:
    """Ingest these paths as the terminal does; return their names and results."""
    naming = await room.kb_service.name_files(local_files(paths), base, room.caller(ADMIN), name=name)

    async def contents() -> AsyncIterator[FileContent]:
        for path, source, origin in naming.files:
            yield FileContent(source, path.name, path.read_bytes(), origin)

    await room.kb_service.require_base(base, room.caller(ADMIN))
    (job,) = accepted_jobs(await room.kb_service.ingest_bytes(contents(), base, room.caller(ADMIN)))
    await room.works()
    room.clock.advance(1.0)
    return naming, [item.state for item in (await room.job(job.id)).items]


async def sources(room: Room, base: str = "default") -> list[str]:
    return sorted(one.source for one in await room.catalog.documents(frozenset({base})))


async def forget_origins(room: Room) -> None:
    """Rewrite the base's records as written before origins existed."""
    for one in await room.catalog.documents(frozenset({"default"})):
        record = json.loads(to_json(one))
        assert record.pop("origin")
        await room.catalog.republish(from_json(Document, json.dumps(record)))


ADDED, UPDATED, UNCHANGED = ItemState.ADDED, ItemState.UPDATED, ItemState.UNCHANGED


async def test_two_folders_of_one_name_are_both_kept(room: Room, tmp_path: Path) -> None:
    first = made(tmp_path / "a/docs", policy_md="Dogs are allowed.")
    second = made(tmp_path / "b/docs", policy_md="Cats are allowed.")
    await ingest(room, first)
    naming, states = await ingest(room, second)
    assert (states, await sources(room)) == ([ADDED], ["docs (b)/policy.md", "docs/policy.md"])
    assert f"“docs” is already the name of {first}, so the documents in {second} is called “docs (b)”." in naming.notes
    for folder in (first, second):
        naming, states = await ingest(room, folder)
        assert (states, naming.notes, naming.kept) == ([UNCHANGED], (), ())
    assert await room.finds("dogs", "default") != []


async def test_two_folders_of_one_name_in_one_command_are_both_kept(room: Room, tmp_path: Path) -> None:
    folders = [made(tmp_path / one / "docs", policy_md=f"Policy {one}.") for one in ("a", "b/a", "c/b/a")]
    _, states = await ingest(room, *folders)
    assert states == [ADDED] * 3
    assert await sources(room) == ["docs (a)/policy.md", "docs (b, a)/policy.md", "docs/policy.md"]


@pytest.mark.parametrize(
    "order", [("co", "co/visitors.md"), ("co/visitors.md", "co"), ("co/hr", "co"), ("co", "co/hr")]
)
async def test_a_file_and_the_folder_that_it_is_in_are_one_document(
    room: Room, tmp_path: Path, order: Sequence[str]
) -> None:
    made(tmp_path / "co", visitors_md="Visitors sign in.")
    made(tmp_path / "co/hr", leave_md="30 days.")
    for path in (*order, *order):
        await ingest(room, tmp_path / path)
    assert len(await sources(room)) == 2


async def test_single_files_of_one_name_are_both_kept(room: Room, tmp_path: Path) -> None:
    files = [made(tmp_path / one, policy_md=f"Policy {one}.") / "policy.md" for one in ("a", "b")]
    for file in (*files, *files):
        await ingest(room, file)
    assert await sources(room) == ["policy (b).md", "policy.md"]


async def test_a_link_to_a_folder_leads_to_the_same_documents(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "data/docs", policy_md="Dogs are allowed.")
    (tmp_path / "current").symlink_to(folder)
    for path in (tmp_path / "current", folder, tmp_path / "current/policy.md"):
        await ingest(room, path)
    assert await sources(room) == ["docs/policy.md"]


async def test_a_folder_gets_the_name_that_is_given_and_keeps_it(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.")
    await ingest(room, folder, name="Handbook of 2026")
    _, states = await ingest(room, folder)
    assert (states, await sources(room)) == ([UNCHANGED], ["Handbook of 2026/policy.md"])
    with pytest.raises(DocumentRejected, match="is called “Handbook of 2026” here already"):
        await ingest(room, folder, name="other")


@pytest.mark.parametrize("name", ["a/b", "..", " x", "x\n", "n" * 121])
async def test_a_name_that_is_none_is_refused(room: Room, tmp_path: Path, name: str) -> None:
    with pytest.raises(DocumentRejected, match="cannot be the name of a folder"):
        await ingest(room, made(tmp_path / "docs", policy_md="x"), name=name)


async def test_a_name_is_for_one_folder(room: Room, tmp_path: Path) -> None:
    folders = [made(tmp_path / one, policy_md="x") for one in ("a", "b")]
    with pytest.raises(DocumentRejected, match="several folders"):
        await ingest(room, *folders, name="both")


async def test_the_name_of_a_folder_that_is_still_there_cannot_be_taken_over(room: Room, tmp_path: Path) -> None:
    first, second = (made(tmp_path / one, policy_md=f"Policy {one}.") for one in ("a", "b"))
    await ingest(room, first)
    with pytest.raises(DocumentRejected, match=f"“a” is already the name of {first}, which is still there"):
        await ingest(room, second, name="a")
    assert [folder_of(one.origin) for one in await room.catalog.documents(frozenset({"default"}))] == [str(first)]


# --- a folder that has moved


async def test_a_moved_folder_goes_on_with_its_documents(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.", leave_md="30 days.")
    await ingest(room, folder)
    moved = folder.rename(made(tmp_path / "archive") / "docs")
    made(moved, leave_md="31 days.")
    naming, states = await ingest(room, moved)
    assert sorted(states) == [UNCHANGED, UPDATED]
    assert [(one.name, one.documents, one.moved_from) for one in naming.kept] == [("docs", 2, str(folder))]
    assert await sources(room) == ["docs/leave.md", "docs/policy.md"]


async def test_a_moved_folder_keeps_a_name_of_its_own(room: Room, tmp_path: Path) -> None:
    await ingest(room, made(tmp_path / "a/docs", policy_md="Dogs are allowed."))
    second = made(tmp_path / "b/docs", policy_md="Cats are allowed.")
    await ingest(room, second)
    _, states = await ingest(room, second.rename(made(tmp_path / "c") / "docs"))
    assert (states, await sources(room)) == ([UNCHANGED], ["docs (b)/policy.md", "docs/policy.md"])


async def test_a_moved_folder_that_changed_altogether_is_adopted_by_name(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.")
    await ingest(room, folder)
    moved = made(folder.rename(tmp_path / "papers"), policy_md="No dogs.")
    _, states = await ingest(room, moved, name="docs")
    assert (states, await sources(room)) == ([UPDATED], ["docs/policy.md"])
    assert (await ingest(room, moved))[1] == [UNCHANGED]


async def test_an_adoption_that_was_killed_half_way_is_gone_on_with(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.", leave_md="30 days.")
    await ingest(room, folder)
    before, *_ = await room.catalog.documents(frozenset({"default"}))
    moved = folder.rename(tmp_path / "papers")
    await ingest(room, moved, name="docs")
    await room.catalog.republish(before)
    _, states = await ingest(room, moved)
    assert states == [UNCHANGED, UNCHANGED]
    assert len(await sources(room)) == 2


async def test_the_same_path_of_another_installation_is_another_folder(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.")
    await ingest(room, folder)
    room.installation = "elsewhere"
    room.wire()
    naming, states = await ingest(room, folder)
    assert (states, len(naming.notes), len(await sources(room))) == ([ADDED], 1, 2)


# --- what came in before origins were known


async def test_a_home_of_an_older_version_is_kept_and_nothing_is_encoded(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.", leave_md="30 days.")
    made(tmp_path / "docs/hr", pay_md="On the 25th.")
    await ingest(room, folder)
    (folder / "leave.md").unlink()
    await forget_origins(room)
    rows = dict(room.index._passages)
    naming, states = await ingest(room, folder)
    assert states == [UNCHANGED, UNCHANGED]
    assert [(one.name, one.documents, one.folder) for one in naming.kept] == [("docs", 3, str(folder))]
    assert naming.missing == ("docs/leave.md",)
    assert "not in it now: docs/leave.md. They still answer" in naming.missing_note
    assert room.index._passages == rows
    naming, _ = await ingest(room, folder)
    assert (naming.kept, len(await sources(room))) == ((), 3)


async def test_another_folder_does_not_replace_what_an_older_version_took_in(room: Room, tmp_path: Path) -> None:
    await ingest(room, made(tmp_path / "a/docs", policy_md="Dogs are allowed."))
    await forget_origins(room)
    naming, states = await ingest(room, made(tmp_path / "b/docs", policy_md="Cats are allowed."))
    assert (states, await sources(room)) == ([ADDED], ["docs (b)/policy.md", "docs/policy.md"])
    assert "--name “docs”" in naming.notes[0]


async def test_a_file_that_an_older_version_took_in_by_itself_is_not_doubled(room: Room, tmp_path: Path) -> None:
    made(tmp_path / "co", visitors_md="Visitors sign in.", leave_md="30 days.")
    await ingest(room, tmp_path / "co/visitors.md")
    await forget_origins(room)
    await ingest(room, tmp_path / "co")
    assert await sources(room) == ["co/leave.md", "visitors.md"]


# --- what is not replaced, and what is retired


async def test_an_upload_is_kept_beside_a_file_of_a_folder_that_has_its_name(room: Room, tmp_path: Path) -> None:
    await ingest(room, made(tmp_path, policy_md="Dogs are allowed.") / "policy.md", base="handbook")
    for text in ("Cats.", "Cats and birds."):  # again under the same name: a new version of the upload
        job = await room.adds(policy_md=f"# Policy of cats\n\n{text}")
        assert "Both are kept; this one is called “policy (uploaded).md”." in job.items[0].notes[-1]
    assert await sources(room, "handbook") == ["policy (uploaded).md", "policy.md"]
    assert (await room.finds("dogs"))[0] == "Policy"
    assert (await room.finds("birds"))[0] == "Policy of cats"
    naming, _ = await ingest(room, made(tmp_path, notes_md="Notes.") / "notes.md", base="handbook")
    assert naming.files[0].source == "notes.md"


async def test_a_file_from_a_folder_does_not_replace_an_upload(room: Room, tmp_path: Path) -> None:
    await room.adds(policy_md="# Policy\n\nCats.")
    naming, _ = await ingest(room, made(tmp_path / "b", policy_md="Dogs.") / "policy.md", base="handbook")
    assert await sources(room, "handbook") == ["policy (b).md", "policy.md"]
    assert "files that were uploaded" in naming.notes[0]


async def test_a_replaced_version_can_be_restored_for_a_week(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "docs", policy_md="Dogs are allowed.")
    await ingest(room, folder)
    await ingest(room, made(folder, policy_md="Cats are allowed."))
    await ingest(room, made(folder, policy_md="Birds are allowed."))
    listed = words(await room.says(KbVerb.RESTORE))
    assert listed.count("before it was replaced") == 2
    assert "Restored “Policy” in “default”" in words(await room.says(KbVerb.RESTORE, target="policy"))
    assert await room.finds_text("allowed", "default") == ["Cats are allowed."]
    first = (await room.trash_store.removals())[-1]
    await room.says(KbVerb.RESTORE, target=first.document.version[:8])
    assert await room.finds_text("allowed", "default") == ["Dogs are allowed."]
    kept = {one.document.version for one in await room.trash.restorable()}
    assert len(kept) == 2
    assert first.document.version not in kept


async def test_a_watched_document_does_not_fill_the_disk_with_its_versions(room: Room) -> None:
    for number in range(14):
        await room.adds(policy_md=f"# Policy\n\nVersion {number}.")
    assert len(await room.trash_store.removals()) == 13
    await room.trash.sweep()
    assert len(await room.trash_store.removals()) == 10
    assert len(room.blobs.kept) == 10


async def test_whoever_is_no_admin_names_no_files(room: Room, tmp_path: Path) -> None:
    with pytest.raises(Denied):
        await room.kb_service.name_files(local_files([tmp_path]), "default", room.caller(MEMBER))


async def test_folders_are_never_shown_in_chat_nor_in_the_audit(room: Room, tmp_path: Path) -> None:
    folder = made(tmp_path / "secret-place/docs", policy_md="Dogs are allowed.")
    await ingest(room, folder)
    await ingest(room, made(folder, policy_md="No dogs."))
    shown = [words(await room.says(verb, base="default")) for verb in (KbVerb.LIST, KbVerb.SHOW, KbVerb.RESTORE)]
    shown += [words(await room.says(KbVerb.JOBS)), words(await room.says(KbVerb.SHOW, target="policy"))]
    shown += [entry.target + entry.detail for entry in await room.audit.recent()]
    assert not any("secret-place" in text for text in shown)
