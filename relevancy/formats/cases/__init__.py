"""Whole cases and books, whatever their format: what a file contains, and how it becomes rows."""
