"""What pages show, as files: CSV, JSON and HTML."""
