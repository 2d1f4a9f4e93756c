"""AsciiDoc, Org, notebooks, descriptions of APIs, MDX and what sites add to Markdown."""

import base64
import json
from typing import Any

import pytest

from adapters.documents.reader import read
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("= Guide\n\n== Keys\n\nThe *porter* has `them`.", "# Guide\n\n## Keys\n\nThe **porter** has `them`."),
        (":max: 20\n\nAt most {max} minutes.", "\n\nAt most 20 minutes."),
        ("WARNING: Never on Friday.", "Warning: Never on Friday."),
        ("[TIP]\n====\nCall first.\n====", "Tip:\n\nCall first.\n"),
        ("* one\n** two\n. first", "- one\n  - two\n1. first"),
        ("Porter:: keeps the keys", "- Porter: keeps the keys"),
        ("See https://x.example/f[the form] and <<keys,Keys>>.", "See [the form](https://x.example/f) and Keys."),
        ("[source,bash]\n----\nmt ship\n----", "\n```bash\nmt ship\n```"),
        ("|===\n|Depot |Vans\n\n|A |3\n|B |4\n|===", "\n| Depot | Vans |\n| --- | --- |\n| A | 3 |\n| B | 4 |\n"),
        ('[cols="1,1"]\n|===\n|Depot\n|Vans\n\n|A\n|3\n|===', "\n\n| Depot | Vans |\n| --- | --- |\n| A | 3 |\n"),
        ("////\nhidden\n////\nshown", "\n\n\nshown"),
        ("The ((porter)) is indexterm2:[away].(((staff, porter)))", "The porter is away."),
    ],
)
def test_asciidoc_is_read_as_markdown(source: str, expected: str) -> None:
    assert text_of(read("guide.adoc", source.encode())) == expected


def test_lines_of_asciidoc_keep_their_numbers_behind_a_table() -> None:
    (block,) = read("guide.adoc", b"|===\n|Depot |Vans\n\n|A |3\n|===\n\nThe end.").blocks
    assert block.source_line(block.text.split("\n").index("The end.")) == 7


def test_files_included_in_asciidoc_are_named() -> None:
    assert read("g.adoc", b"Text.\n\ninclude::more.adoc[]").notes == ("files included in this one not read: 1",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("* TODO Call :belt:\n** Why", "# TODO Call (belt)\n## Why"),
        ("- [X] done :: it\n- [ ] not", "- (done) done: it\n- (open) not"),
        (
            "See [[https://x.example/f][the form]], =code=, *bold*.",
            "See [the form](https://x.example/f), `code`, **bold**.",
        ),
        ("| A | B |\n|---+---|\n| 1 | 2 |", "| A | B |\n|---|---|\n| 1 | 2 |"),
        ("#+BEGIN_SRC python\nprint(1)\n#+END_SRC", "```python\nprint(1)\n```"),
        (":PROPERTIES:\n:ID: 3\n:END:\nDue <2026-05-09 Sat 10:00>.", "\n\n\nDue 2026-05-09 10:00."),
        ("#+BEGIN_QUOTE\nsaid\n#+END_QUOTE\n# hidden", "\nsaid\n\n"),
        ("#+CAPTION: Fees of 2026\n| A | B |", "Caption: Fees of 2026\n| A | B |"),
        (":NOTES:\nCall first.\n:END:\nThen go.", ":NOTES:\nCall first.\n\nThen go."),
        (":LOGBOOK:\nnot closed\n* Keys\nThe porter.", "\n\n# Keys\nThe porter."),
    ],
)
def test_org_is_read_as_markdown_line_by_line(source: str, expected: str) -> None:
    assert text_of(read("notes.org", source.encode())) == expected


def test_files_included_in_org_are_named() -> None:
    parsed = read("notes.org", b"Text.\n\n#+INCLUDE: more.org")
    assert parsed.notes == ("other files that this one includes are not read",)


PICTURE = base64.b64encode(bytes(range(256)) * 40).decode()


def notebook(*cells: Any) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"cell_type": "markdown", "source": ["# Churn\n", "\n", "We asked 40."]}, "# Churn\n\nWe asked 40."),
        (
            {"cell_type": "code", "source": "f()", "outputs": [{"output_type": "stream", "text": ["7.4\n"]}]},
            "```python\nf()\n```\n\nOutput:\n\n```\n7.4\n```",
        ),
        (
            {
                "cell_type": "code",
                "source": "g()",
                "outputs": [{"data": {"image/png": PICTURE, "text/plain": "<Figure size 6x4>"}}],
            },
            "```python\ng()\n```",
        ),
        (
            {
                "cell_type": "code",
                "source": "h()",
                "outputs": [{"ename": "KeyError", "evalue": "'x'", "traceback": ["\x1b[31mlong"]}],
            },
            "```python\nh()\n```\n\nOutput:\n\n```\nKeyError: 'x'\n```",
        ),
        ({"cell_type": "markdown", "source": f"Plan: ![yard](data:image/png;base64,{PICTURE})"}, "Plan: ![yard]()"),
    ],
)
def test_a_notebook_is_its_text_code_and_printed_results(cell: dict[str, object], expected: str) -> None:
    text = text_of(read("study.ipynb", notebook(cell)))
    assert text == expected
    assert PICTURE[:100] not in text


def test_pictures_of_a_notebook_are_counted() -> None:
    picture = {"data": {"image/png": PICTURE}}
    cells = [{"cell_type": "code", "source": "f()", "outputs": [picture, picture]}]
    assert read("study.ipynb", notebook(*cells)).notes == ("pictures in outputs not read: 2",)


API = {
    "openapi": "3.1.0",
    "info": {"title": "Parcels", "version": "2", "description": "# Rules\n\nBe kind."},
    "servers": [{"url": "https://api.x.example/v2"}],
    "paths": {
        "/parcels/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "delete": {
                "summary": "Cancel",
                "description": "Only before pick-up.",
                "responses": {"409": {"description": "Picked up"}},
            },
            "put": {
                "summary": "Change",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Parcel"}}}},
                "responses": {"200": {"description": "Changed"}},
            },
        }
    },
    "components": {
        "schemas": {
            "Parcel": {"required": ["weight"], "properties": {"weight": {"type": "integer", "description": "Grams"}}}
        }
    },
}


def as_yaml(value: object) -> bytes:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False)).encode()


@pytest.mark.parametrize(
    ("name", "write"), [("api.json", lambda v: json.dumps(v).encode()), ("api.yaml", as_yaml), ("api", as_yaml)]
)
def test_an_operation_of_an_api_is_a_block(name: str, write: object) -> None:
    parsed = read(name, write(API))  # type: ignore[operator]
    assert [block.label for block in parsed.blocks] == [
        "about",
        "DELETE /parcels/{id}",
        "PUT /parcels/{id}",
        "schema Parcel",
    ]
    about, delete, put, _ = (block.text for block in parsed.blocks)
    assert "#### Rules" in about
    assert "- Servers: https://api.x.example/v2" in about
    assert delete.startswith("## DELETE /parcels/{id}: Cancel\n\nOnly before pick-up.")
    assert "- `id` (in path, required, string)" in delete
    assert "- 409: Picked up" in delete
    assert "Body:\n\n- `weight` (integer, required): Grams" in put


def test_fields_without_a_schema_of_their_own_are_kept() -> None:
    parcels = {"type": "array", "items": {"properties": {"weight": {"type": "integer"}}}}
    content = {"application/json": {"schema": parcels}}
    post = {
        "requestBody": {"description": "All parcels of a day.", "content": content},
        "responses": {"201": {"description": "Made", "content": content}},
    }
    api = {"openapi": "3.0.0", "info": {"title": "T"}, "paths": {"/parcels": {"post": post}}}
    (_, block) = read("api.json", json.dumps(api).encode()).blocks
    assert "Body: All parcels of a day.\n\n- `weight` (integer)" in block.text
    assert "Answers:\n\n- 201: Made\n  - `weight` (integer)" in block.text


def test_settings_that_only_mention_an_api_stay_settings() -> None:
    assert read("ci.yaml", b"steps:\n  - openapi: lint\n  - paths: 3").media_type == "text/x-source"


def test_a_description_that_refers_to_itself_ends() -> None:
    again = {"$ref": "#/components/schemas/A"}
    schema = {"properties": {"b": again, "c": {"type": "array", "items": again}}}
    loop = {"openapi": "3.0.0", "info": {"title": "T"}, "components": {"schemas": {"A": schema}}}
    assert "- `c` (list of A)" in text_of(read("a.json", json.dumps(loop).encode()))


@pytest.mark.parametrize("name", ["a.ipynb", "api.json"])
def test_a_damaged_file_is_refused_by_name(name: str) -> None:
    with pytest.raises(DocumentRejected, match="damaged"):
        read(name, b'{"cells": [, "cell_type", "openapi": "3.0.0", "info":')


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('import T from "@x/T";\n\n# Keys\n\n<T>The porter.</T>', "# Keys\n\nThe porter."),
        ("export const max = 20;\n\nAt most {max} minutes, `{max}`.", "At most 20 minutes, `{max}`."),
        ('<Step title="Build">Run it.</Step>', "Build: Run it."),
        ('<Callout type="warning">\n  Never on Friday.\n</Callout>', "Warning:\n  Never on Friday."),
        ('<Card title="Form" href="https://x.example/f" />', "[Form](https://x.example/f)"),
        ("Type `<Map>` and {/* hidden */}go.", "Type `<Map>` and go."),
        ("```js\nimport x from 'y';\n<T>\n```", "```js\nimport x from 'y';\n<T>\n```"),
    ],
)
def test_components_of_mdx_are_their_words(source: str, expected: str) -> None:
    assert text_of(read("page.mdx", source.encode())).strip() == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (":::danger Rollback\nWithin 20 minutes.\n:::", "Danger: Rollback.\nWithin 20 minutes."),
        ("::: tip\nCall first.\n:::", "Tip:\nCall first."),
        (":::note[Who]\nThe porter.\n:::", "Note: Who.\nThe porter."),
        ("> [!IMPORTANT]\n> Two approvals.", "> Important:\n> Two approvals."),
        ("```\n:::danger\n```", "```\n:::danger\n```"),
    ],
)
def test_notes_of_sites_say_what_they_are(source: str, expected: str) -> None:
    assert text_of(read("page.md", source.encode())) == expected


def test_front_matter_keeps_what_readers_are_told() -> None:
    source = "---\ntitle: Keys\ndescription: Who holds which key.\nsidebar_position: 3\nslug: /keys\n---\n\nThe porter."
    parsed = read("keys.md", source.encode())
    assert parsed.title == "Keys"
    assert text_of(parsed) == "description: Who holds which key.\n\n\n\n\nThe porter."


def test_json_in_other_letters_is_recognized_without_its_ending() -> None:
    rows = [{"имя": f"Склад номер {i}", "город": "Екатеринбург"} for i in range(2_000)]
    assert read("export", json.dumps(rows, ensure_ascii=False).encode()).media_type == "application/json"


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("quote, Ada Byron, Notes of 1843", "Quoted from Ada Byron, Notes of 1843:"),
        ("quote, Tom", "Quoted from Tom:"),
        ('verse, C. Reeve, "Sea"', "Quoted from C. Reeve, Sea:"),
    ],
)
def test_who_is_quoted_in_asciidoc_is_kept(label: str, said: str) -> None:
    text = text_of(read("a.adoc", f"= Guide\n\n[{label}]\n____\nThe engine weaves patterns.\n____\n".encode()))

    assert text.rstrip() == f"# Guide\n\n{said}\n\nThe engine weaves patterns."


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "text": [f"step {n}\n" for n in range(900)] + ["accuracy 0.93\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "begin " + "row\n" * 900 + "accuracy 0.93"}},
        {"output_type": "display_data", "data": {"text/markdown": "| a |\n" * 900 + "accuracy 0.93"}},
    ],
)
def test_a_long_output_of_a_notebook_keeps_its_end_and_is_named(output: dict[str, Any]) -> None:
    book = {"cells": [{"cell_type": "code", "source": "train()", "outputs": [output]}], "nbformat": 4}

    parsed = read("a.ipynb", json.dumps(book).encode())

    assert "accuracy 0.93\n```" in text_of(parsed)
    assert parsed.notes == ("long outputs shortened: 1",)


@pytest.mark.parametrize("count", [201, 260, 2_500])
def test_fields_beyond_those_that_are_described_are_named(count: int) -> None:
    fields = {f"field_{number}": {"type": "string"} for number in range(count)}
    api = {"openapi": "3.0.0", "info": {"title": "T"}, "components": {"schemas": {"Big": {"properties": fields}}}}

    last = text_of(read("a.json", json.dumps(api).encode())).split("\n")[-1]

    assert last.startswith("- Further: field_200")
    assert last.endswith(f"field_{count - 1}" if count < 2_000 else "field_1999 and 500 more")
