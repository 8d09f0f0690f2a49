"""The history of a case: all its runs, under several scorers."""
