"""The measures of the house, one file each; close relatives share one. A new one: its file, a line in `registry.py`,
a test file, and a line in the docs."""
