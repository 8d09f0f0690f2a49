"""Notebooks: snippets of Python that read a case into pandas by the REST API."""
