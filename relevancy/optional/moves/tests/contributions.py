"""What the app adds to tests that cover the whole site; see tests/optional.py."""

PAGES = """
address                method role    status
book_moves             GET    edit    200
book_moves             POST   edit    302
"""
