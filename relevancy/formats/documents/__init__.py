"""Documents for an engine, and the sample data."""
