"""Files and links into Markdown with headings and locators.

`sandbox.pool.Sandbox` is the way in: it runs `reader.read` in a subprocess with limits; `formats` holds one module a
format. `web.fetcher.Fetcher` brings bytes from the network past its guard.
"""
