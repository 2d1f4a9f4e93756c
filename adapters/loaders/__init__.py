"""Files and links into Markdown with headings and places.

`sandbox.Sandbox` is the way in: it runs `formats.read` in a subprocess with limits. `fetch.Fetcher` brings bytes
from the network past its guard. Everything else here is one format each.
"""
