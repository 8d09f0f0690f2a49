"""The page of a case's schedule."""
