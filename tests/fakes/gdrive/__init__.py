"""Google Drive as a server."""
