"""Takes an attempt to production: its text in the form of the engine, the difference to another attempt, and the evidence."""
