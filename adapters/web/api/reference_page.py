"""/docs: the API for people, one plain page made of its description. No script, nothing from elsewhere."""

from html import escape
from typing import Any

PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
"""
_EXAMPLE = """curl -s {address}/v1/ask -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
     -d '{{"question": "How long do refunds take?"}}'"""


def page(description: dict[str, Any], address: str = "http://127.0.0.1:8080") -> str:
    """The whole page as HTML."""
    operations = [
        (method.upper(), path, one) for path, methods in description["paths"].items() for method, one in methods.items()
    ]
    schemas: dict[str, Any] = description["components"]["schemas"]
    listed = "".join(
        f'<li><a href="#{one["operationId"]}"><code>{method} {escape(path)}</code></a> {escape(one["summary"])}</li>'
        for method, path, one in operations
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Footnote API</title><style>{_STYLE}</style></head><body><main><h1>Footnote API</h1>"
        "<p>Programs ask, search and add documents here. Each request carries a token, which "
        "<code>footnote token create</code> makes. The same as <a href='/v1/openapi.json'>OpenAPI</a> for tools.</p>"
        f"<pre>{escape(_EXAMPLE.format(address=address))}</pre><ul>{listed}</ul>"
        + "".join(_operation(method, path, one) for method, path, one in operations)
        + "<h2>Types</h2>"
        + "".join(_schema(name, one) for name, one in sorted(schemas.items()))
        + "</main></body></html>"
    )


def _operation(method: str, path: str, one: dict[str, Any]) -> str:
    body = one.get("requestBody", {}).get("content", {})
    taken = ", ".join(_type(content["schema"]) + f" as {escape(kind)}" for kind, content in body.items()) or "nothing"
    rows = "".join(
        f"<tr><td>{status}</td><td>{escape(' '.join(reply['description'].split()))}</td>"
        f"<td>{', '.join(_type(content['schema']) for content in reply['content'].values())}</td></tr>"
        for status, reply in one["responses"].items()
    )
    return (
        f'<h2 id="{one["operationId"]}"><code>{method} {escape(path)}</code></h2><p>{escape(one["summary"])}. '
        f"{escape(one['description'].replace('`', ''))}</p><p>Takes {taken}.</p>"
        f"<table><thead><tr><th>Status</th><th>Means</th><th>Body</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _schema(name: str, one: dict[str, Any]) -> str:
    required = one.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in required else ' (optional)'}</td><td>{_type(schema)}</td>"
        f"<td>{escape(schema.get('description', ''))}</td></tr>"
        for field, schema in one.get("properties", {}).items()
    )
    words = " ".join(one.get("description", "").split())
    table = f"<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    values = ", ".join(f"<code>{escape(str(value))}</code>" for value in one.get("enum", []))
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(words)}</p>{table if rows else f"<p>{values}</p>"}'


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "allOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", schema.get("const", "anything"))))
