"""The embedded engine (tantivy), which needs no search server."""

from .engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]
