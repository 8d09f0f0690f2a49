"""What the app adds to tests that cover the whole site; see tests/optional.py."""

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
endpoint_new_mapping   GET    create  200
endpoint_new_mapping   POST   create  200
endpoint_mapping       GET    edit    200
endpoint_mapping       POST   edit    200
"""
