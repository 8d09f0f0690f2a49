"""HTTP to search engines: allowed addresses, pinned connections, limits, retries and reading of responses."""
