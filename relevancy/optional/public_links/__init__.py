"""Public links: anyone who has one sees the scores and results of a case, without an account."""
