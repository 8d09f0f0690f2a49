"""The result of `evaluate` and of the release gate: JSON, JUnit and Markdown."""
