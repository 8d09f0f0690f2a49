"""Service: imports and exports, one folder per product or purpose, one module per file format."""

from .cells import decode, read_lines
from .detection import parse_case, read_book
from .errors import BadFile
from .file_formats import UnclearFile
from .ratings.checked_ratings import check_page_limit

__all__ = ["BadFile", "UnclearFile", "check_page_limit", "decode", "parse_case", "read_book", "read_lines"]
