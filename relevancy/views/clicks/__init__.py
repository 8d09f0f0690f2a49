"""Pages about the clicks of a book."""
