"""Service: imports and exports, one folder per product or purpose, one module per file format."""

from .cases.case_content import check_page_limit
from .cells import decode, read_lines
from .detection import parse_case, read_book
from .errors import BadFile
from .file_formats import UnclearFile

__all__ = ["BadFile", "UnclearFile", "check_page_limit", "decode", "parse_case", "read_book", "read_lines"]
