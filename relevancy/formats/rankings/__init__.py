"""Rankings made elsewhere, as runs, and runs as files."""
