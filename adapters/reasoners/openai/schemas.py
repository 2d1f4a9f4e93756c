"""JSON schemas of the replies that are asked for as JSON: all fields required and no other, as strict modes want it."""

from typing import Any

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
    """The grades with a word on whether they suffice, said last."""
    properties = grades["schema"]["properties"]
    return _named_schema("grades_with_decision", _object(**properties, enough=_FLAG))
