"""What pages show, as files: CSV, JSON, HTML and notebooks."""
