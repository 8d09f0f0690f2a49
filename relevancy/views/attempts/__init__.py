"""All attempts of a case: what each one changed, who made it, how it scored; and two of them to compare."""
