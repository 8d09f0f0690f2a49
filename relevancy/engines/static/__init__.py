"""Uploaded files of rankings."""

from .engine import StaticEngine

__all__ = ["StaticEngine"]
