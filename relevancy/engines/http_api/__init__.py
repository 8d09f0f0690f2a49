"""Any search API that speaks JSON."""

from .engine import HttpApiEngine

__all__ = ["HttpApiEngine"]
