"""Optional apps: each folder is a whole Django app that the core does not know; see docs/writing-an-app.md."""
