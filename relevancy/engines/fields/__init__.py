"""Displayed fields: specifications, values of documents, highlighting."""
