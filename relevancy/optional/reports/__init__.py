"""Reports: what a run of a case says about ratings, search times and failures, and what to do next."""
