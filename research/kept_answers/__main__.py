"""Where a person's answer is found in public chats, and how often somebody would be asked about words that are none.

``python -m research.kept_answers FOLDER`` reads threads of the XML files in a folder: messages with a
``conversation_id``, ``ts``, ``user`` and ``text``, as in Software-related-Slack-Chats-with-Disentangled-Conversations,
github.com/preethac.
One hundred threads judge (``labels.tsv`` says which messages of each answer its question), others were for building.
Nobody pressed *Ask a person* there: the first message is taken as that question, and its writer as the asker.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from core.model.message_text import is_question, plain_question
from core.model.person_answers import PersonAnswer
from core.service.answer_replies import AskerSays, after_asker, after_reply, asker_says, is_clear
from core.service.person_answers import QUIET_SECONDS

HERE = Path(__file__).parent
THREADS = 100
SHOWN = 400  # characters of a message


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    at: datetime
    user: str
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A question and what followed."""

    id: str
    messages: tuple[Said, ...]


def threads_in(folder: Path) -> Iterator[Thread]:
    """Yield every conversation that begins with a question and has replies of others."""
    for path in sorted(folder.glob("*.xml")):
        found = list(ET.parse(path).getroot().iter("message"))  # noqa: S314 - a file of the researcher's
        found.sort(key=lambda one: int(one.get("conversation_id") or 0))
        for number, messages in groupby(found, lambda one: one.get("conversation_id")):
            said = tuple(map(_said, messages))
            others = {one.user for one in said} - {said[0].user}
            if len(said) >= 3 and others and is_question(said[0].text) and len(said[0].text) > 30:
                yield Thread(f"{path.stem}:{number}", said)


def _said(element: ET.Element) -> Said:
    at = datetime.fromisoformat((element.findtext("ts") or "").strip())
    return Said(at, (element.findtext("user") or "").strip(), plain_question(element.findtext("text") or ""))


def asked_about(thread: Thread) -> tuple[int, str]:
    """Return the message whose writer would be asked, and why then; -1 where nobody would be."""
    question, call = thread.messages[0], PersonAnswer(id="1", asker=thread.messages[0].user)
    waiting: datetime | None = None
    for number, said in enumerate(thread.messages[1:], 1):
        if waiting is not None and (said.at - waiting).total_seconds() >= QUIET_SECONDS:
            return int(call.message), "silence"
        if said.user == call.asker:
            says = asker_says(said.text)
            if call.message and says is AskerSays.CONTENT and not call.rival:
                return int(call.message), "thanks"
            if says is AskerSays.GOES_ON:
                call, waiting = after_asker(call, said.text), None
            continue
        reply = after_reply(call, said.user, str(number), said.text)
        if reply != call:
            call = reply
            waiting = said.at if is_clear(call, said.text, question.text) else None
    return (int(call.message), "silence") if waiting is not None else (-1, "")


def chosen(threads: Sequence[Thread], part: str) -> list[Thread]:
    """Return the hundred threads of a part, in an order that depends on their ids alone."""
    order = sorted(threads, key=lambda one: hashlib.sha256(one.id.encode()).hexdigest())
    return order[:THREADS] if part == "judge" else order[THREADS : 2 * THREADS]


def labels() -> dict[str, frozenset[int]]:
    """Return by thread the messages that answer its question."""
    rows = [line.split("\t") for line in (HERE / "labels.tsv").read_text().splitlines()]
    return {row[0]: frozenset(int(one) for one in row[1].split(",") if one != "-") for row in rows}


def main() -> None:
    """Print a table, and with ``--show`` every thread with what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=["judge", "build"], default="judge")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    threads = chosen(list(threads_in(given.folder)), given.part)
    known, counts = labels() if given.part == "judge" else {}, Counter[str]()
    for thread in threads:
        number, why = asked_about(thread)
        right = known.get(thread.id, frozenset())
        verdict = f"asked after {why}" if number >= 0 else "not asked"
        if known:
            verdict += (
                ": right" if number in right else ": wrong" if number >= 0 else ": missed" if right else ": rightly"
            )
        counts[verdict] += 1
        if given.show:
            print(f"\n## {thread.id} {verdict}")
            for at, said in enumerate(thread.messages[:14]):
                print(f"{'*' if at == number else ' '}{at} {said.user}: {' '.join(said.text.split())[:SHOWN]}")
    for verdict, count in sorted(counts.items()):
        print(f"{count:4} {verdict}")


if __name__ == "__main__":
    main()
