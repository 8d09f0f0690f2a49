"""The embedded engine (tantivy), which needs no search server."""
