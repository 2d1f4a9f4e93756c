"""Conversion of files and links to Markdown with headings and locators.

`sandbox.pool.Sandbox` is the entry point. It runs `reader.read` in a subprocess with limits. `formats` holds one module
per format. `web.fetcher.Fetcher` downloads through an address guard.
"""
