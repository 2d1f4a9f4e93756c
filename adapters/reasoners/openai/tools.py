"""Tools and JSON schemas for a language model, and conversion of its calls to actions.

Models call unknown tools, use wrong argument types, or write calls into their text. Readable calls become actions, and
others are dropped. All fields in the schemas are required, because strict modes demand it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from adapters.reasoners.openai.hidden_text import without_thoughts
from adapters.reasoners.openai.request import Completion
from adapters.reasoners.openai.structured_output import as_number, as_text, as_texts, json_in
from core.model.inquiry import (
    AskBack,
    Decision,
    Insufficient,
    ListSources,
    ReadSection,
    SearchAction,
    SearchKnowledge,
    SearchSource,
    Sufficient,
)

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_FLAG: Json = {"type": "boolean"}
_WHOLE: Json = {"type": "integer"}


def _object(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(item: Json) -> Json:
    return {"type": "array", "items": item}


def _named_schema(name: str, schema: Json) -> Json:
    return {"name": name, "strict": True, "schema": schema}


PLAN = _named_schema(
    "plan",
    _object(
        reason=_TEXT,
        action={"type": "string", "enum": ["search", "reply", "ask"]},
        question=_TEXT,
        queries=_TEXTS,
        reply=_TEXT,
        options=_TEXTS,
        sources_first=_FLAG,
    ),
)
_GRADES = _list_of(_object(id=_WHOLE, summary=_TEXT, score=_WHOLE))
GRADES = _named_schema("grades", _object(grades=_GRADES))
VERDICTS = _named_schema(
    "verdicts",
    _object(
        verdicts=_list_of(
            _object(
                n=_WHOLE,
                document=_WHOLE,
                words=_TEXT,
                verdict={"type": "string", "enum": ["supported", "contradicted", "not stated", "no claim"]},
                fault=_TEXT,
            )
        )
    ),
)
REPAIRED = _named_schema("repaired", _object(sentences=_list_of(_object(n=_WHOLE, text=_TEXT))))
READY = _named_schema("ready", _object(ready=_FLAG))
REVIEW = _named_schema("review", _object(missing=_TEXT, complete=_FLAG))


def with_enough(grades: Json) -> Json:
    """Return the schema of grades with a final flag that says whether they suffice."""
    properties = grades["schema"]["properties"]
    return _named_schema("grades_with_decision", _object(**properties, enough=_FLAG))


MOST_ACTIONS = 4
MOST_OPTIONS = 5
QUERY_LENGTH = 300  # characters
_EVERYWHERE = frozenset({"", "all", "any", "none", "null", "*"})
_KEYWORDS = "Keywords as they would stand in the document, not a sentence."

TOOLS_IN_WORDS = """You have no functions to call, so write the calls as one JSON object and nothing else:
{"missing": "", "calls": [{"name": "search_knowledge_base", "arguments": {"query": "keywords"}}]}
The calls are:
search_knowledge_base(query, knowledge_base?, top_k?): search the knowledge by keywords, not sentences.
search_by_source(query, source): search within one document, named by its title.
list_sources(): the titles of all documents.
read_section(id): the whole section around one piece of evidence.
answer_now(): the evidence suffices, or nothing better is left to try.
ask_user(question, options): ask the person which reading is meant."""


def tools_for(bases: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return the tools, with the names of the bases as choices."""
    base: dict[str, Any] = {"type": "string", "description": "Search this base only. Leave out to search all."}
    if bases:
        base["enum"] = list(bases)
    return (
        _tool(
            "search_knowledge_base",
            "Search the documents. Several calls at once run together.",
            {"query": _text(_KEYWORDS), "knowledge_base": base, "top_k": {"type": "integer", "minimum": 1}},
            ("query",),
        ),
        _tool(
            "search_by_source",
            "Search within one document.",
            {
                "query": _text(_KEYWORDS),
                "source": _text("The document's title, as list_sources or the evidence has it."),
            },
            ("query", "source"),
        ),
        _tool("list_sources", "The titles of all documents.", {}, ()),
        _tool(
            "read_section",
            "Read the whole section around a piece of evidence that breaks off or lacks context.",
            {"id": {"type": "integer", "description": "The evidence's id."}},
            ("id",),
        ),
        _tool("answer_now", "The evidence suffices, or nothing better is left to try.", {}, ()),
        _tool(
            "ask_user",
            "Ask the person which of several readings is meant.",
            {
                "question": _text("One short question."),
                "options": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Two to four readings, each a self-contained question.",
                },
            },
            ("question", "options"),
        ),
    )


def decision_in(completion: Completion, bases: Sequence[str]) -> Decision | None:
    """Return the decision in a reply, or None if it has none."""
    written = json_in(completion.text) if not completion.calls else None
    calls = list(_native_calls(completion)) or list(_calls_in_text(written))
    actions = tuple(
        dict.fromkeys(action for name, arguments in calls if (action := _search_action(name, arguments, bases)))
    )
    if actions:
        return Insufficient(_missing_text(completion, written, actions), actions[:MOST_ACTIONS])
    for name, arguments in calls:
        if name == "ask_user" and (question := as_text(arguments.get("question"), QUERY_LENGTH)):
            return AskBack(question, as_texts(arguments.get("options"), MOST_OPTIONS))
    if any(name == "answer_now" for name, _ in calls):
        return Sufficient("the model has enough")
    return None


def _missing_text(completion: Completion, written: object, actions: Sequence[SearchAction]) -> str:
    """Return what is missing in the model's words, or its queries."""
    if isinstance(written, dict) and (said := as_text(written.get("missing"), QUERY_LENGTH)):
        return said
    said = "" if written is not None else " ".join(without_thoughts(completion.text).split())
    if said:
        return said[:QUERY_LENGTH]
    return "; ".join(action.query for action in actions if isinstance(action, SearchKnowledge | SearchSource))


def _native_calls(completion: Completion) -> Iterable[tuple[str, dict[str, Any]]]:
    for call in completion.calls:
        arguments = json_in(call.arguments)
        yield call.name.strip(), arguments if isinstance(arguments, dict) else {}


def _calls_in_text(value: object) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield calls that the text has as JSON, in any common shape."""
    if isinstance(value, dict):
        inner = next((value[key] for key in ("calls", "tool_calls", "tools") if isinstance(value.get(key), list)), None)
        items = [value] if inner is None else inner
    else:
        items = value if isinstance(value, list) else []
    for item in items:
        call = item.get("function") if isinstance(item, dict) and isinstance(item.get("function"), dict) else item
        if not isinstance(call, dict):
            continue
        name = as_text(next((call[key] for key in ("name", "tool", "function", "action") if key in call), ""), 60)
        given = next((call[key] for key in ("arguments", "parameters", "args", "input") if key in call), call)
        arguments = json_in(given) if isinstance(given, str) else given
        yield name, arguments if isinstance(arguments, dict) else {}


def _search_action(name: str, arguments: dict[str, Any], bases: Sequence[str]) -> SearchAction | None:
    query = as_text(arguments.get("query", arguments.get("keywords")), QUERY_LENGTH)
    source = as_text(arguments.get("source", arguments.get("title")), QUERY_LENGTH)
    match name:
        case "search_knowledge_base" | "search_by_source" if not query:
            return None
        case "search_by_source" if source:
            return SearchSource(query, source)
        case "search_knowledge_base" | "search_by_source":
            top_k = as_number(arguments.get("top_k"))
            base = _base(as_text(arguments.get("knowledge_base"), 100), bases)
            return SearchKnowledge(query, base, max(1, int(top_k)) if top_k is not None else None)
        case "list_sources":
            return ListSources()
        case "read_section":
            number = as_number(arguments.get("id", arguments.get("evidence")))
            return ReadSection(int(number)) if number is not None and number >= 1 else None
        case _:
            return None


def _base(name: str, bases: Sequence[str]) -> str | None:
    """Return the named base. An unknown name is kept, so that the search can tell the model that it does not exist."""
    if name in bases:
        return name
    known = {base.casefold(): base for base in bases}
    return None if name.casefold() in _EVERYWHERE else known.get(name.casefold(), name)


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _tool(name: str, description: str, properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
