"""What the app adds to tests that cover the whole site; see tests/optional.py."""

# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
case_activity          GET    see     200
case_activity_csv      GET    see     200
team_activity          GET    see     200
team_activity_csv      GET    see     200
"""
OPERATIONS = """
operation          role    scope  status
list_case_activity see     read   200
list_team_activity see     read   200
"""
