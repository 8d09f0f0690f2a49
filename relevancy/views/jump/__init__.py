"""Jump to a case, book, query or scorer by its name."""
