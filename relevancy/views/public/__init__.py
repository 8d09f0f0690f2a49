"""What a public link shows of a case."""
