"""Queries as CSV or one to a line, and the query list of the workbench."""
