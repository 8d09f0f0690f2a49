"""The adapter for any search API that speaks JSON. Knows neither Django nor the models."""

from .adapter import HttpApiEngine

__all__ = ["HttpApiEngine"]
