"""The built-in measures: one file each, closely related measures in one file.

To add one: write its file, add it to `registry.BUILT_IN`, write its test file, and describe it in docs/scorers.md.
"""
