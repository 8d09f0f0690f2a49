"""The pages, files and operations that show the activity log of a case or a team, which services write."""
