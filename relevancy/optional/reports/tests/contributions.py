"""What the app adds to tests that cover the whole site; see tests/optional.py."""

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
report                 GET    see     200
report_csv             GET    see     200
report_json            GET    see     200
"""
