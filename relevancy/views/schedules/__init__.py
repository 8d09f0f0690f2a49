"""The pages of the schedules of cases and groups."""
