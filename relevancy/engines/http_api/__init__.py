"""Any search API that speaks JSON."""

from .engine import HttpApiEngine
from .trials import try_mapping

__all__ = ["HttpApiEngine", "try_mapping"]
