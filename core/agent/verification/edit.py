"""Applying verdicts to a draft: replace, strike and cite single parts, and leave every other character unchanged."""

import re
from collections.abc import Iterable, Sequence

from core.agent.verification.claims import DraftUnit, UnitKind, code_stands, units_in
from core.agent.verification.judge import Judged
from core.model.answer import Support
from core.model.text import cited_ids, without_markers

CODE_LEFT_OUT = "(Lines that are in no document were left out here.)"
_ROW = re.compile(r"(\s*\|.*?)\s*\|\s*")
_EMPTY_ITEM = re.compile(r"^\s*(?:>\s*)*(?:[-*•]|\d+[.)])?\s*$")

Edit = tuple[DraftUnit, str]  # a part of the draft and its replacement, empty to strike it


def edit(draft: str, edits: Iterable[Edit]) -> str:
    """Return the draft with each part replaced. Remove lines that become empty."""
    for unit, text in sorted(edits, key=lambda one: -one[0].start):
        draft = _replace(draft, unit, text)
    return re.sub(r"\n{3,}", "\n\n", _without_empty_quotes(draft)).strip()


def cited(judged: Judged) -> Edit | None:
    """Return the edit that adds a claim's citation markers. None if it has them or another marker covers it."""
    unit, evidence = judged.unit, judged.verdict.claim.evidence
    if judged.verdict.support is not Support.SUPPORTED or not evidence or evidence == unit.evidence:
        return None
    marks = "".join(f"[{n}]" for n in evidence)
    return unit, _with_mark(without_markers(unit.text) if cited_ids(unit.text) else unit.text, marks)


def without_foreign_code(draft: str, texts: Sequence[str]) -> str:
    """Return the draft without code blocks that are in none of the texts."""
    foreign = [unit for unit in units_in(draft) if unit.kind is UnitKind.CODE and not code_stands(unit.text, texts)]
    return edit(draft, [(unit, CODE_LEFT_OUT) for unit in foreign]) if foreign else draft


def without_idle_leads(draft: str) -> str:
    """Return the draft without a last line that introduces struck content."""
    lines = draft.rstrip().split("\n")
    while len(lines) > 1 and without_markers(lines[-1]).rstrip("*_ ").endswith(":"):
        lines = "\n".join(lines[:-1]).rstrip().split("\n")
    return "\n".join(lines)


def _replace(draft: str, unit: DraftUnit, text: str) -> str:
    before, after = draft[: unit.start], draft[unit.end :]
    if text:
        return f"{before}{text}{after}"
    line_start, rest = before.rpartition("\n")[2], after.partition("\n")
    if not _EMPTY_ITEM.match(line_start + rest[0]):
        return before.rstrip(" ") + after if not rest[0].strip() else before + after.lstrip(" ")
    return before[: len(before) - len(line_start)] + (rest[2] if rest[1] else "")


def _with_mark(sentence: str, mark: str) -> str:
    """Return the sentence with its marker. A table row has it in the last cell."""
    row = _ROW.fullmatch(sentence)
    return f"{row.group(1)} {mark} |" if row else f"{sentence} {mark}"


def _without_empty_quotes(draft: str) -> str:
    """Return the draft without empty block quote lines, except one between two paragraphs."""
    kept: list[str] = []
    for line in draft.split("\n"):
        within = bool(kept) and kept[-1].startswith(">")
        if line.startswith(">") and not line.strip("> ") and not (within and kept[-1] != ">"):
            continue
        if kept and kept[-1] == ">" and not line.startswith(">"):
            kept.pop()  # the block quote ends here
        kept.append(line.rstrip() if line.startswith(">") else line)
    return "\n".join(kept)
