"""The page of a large file that a worker makes."""
