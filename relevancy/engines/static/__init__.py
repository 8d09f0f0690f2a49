"""Uploaded files of rankings."""
