"""The report of a case: one run, and what to do next."""
