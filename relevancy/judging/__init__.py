"""Workroom: rate documents and take ratings back.

Read as sentences: `judging.rate(query=…, doc_id=…, value=…, by=user)`. Every change is logged and raises the query's revision.
"""

from .rating import CannotRate, Change, check_document, rate, rate_book, rate_many, take_back

__all__ = ["CannotRate", "Change", "check_document", "rate", "rate_book", "rate_many", "take_back"]
