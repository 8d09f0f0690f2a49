"""Backups: database and data folder in one archive while the site works, and back."""
