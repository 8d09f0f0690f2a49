"""What the app adds to tests that cover the whole site; see tests/optional.py."""

# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
production             GET    see     200
production_deployment  GET    see     200
production_difference  GET    see     302
production_evidence    GET    see     302
"""
OPERATIONS = """
operation          role    scope  status
read_production    see     read   200
"""
