"""What the app adds to tests that cover the whole site; see tests/optional.py."""

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
case_notebook          GET    see     200
case_notebook_file     GET    see     200
"""
EXECUTED_IN = {
    ("notebooks.md", "python"): "relevancy/optional/notebooks/tests/test_notebooks.py"
}  # tests/test_guides.py
