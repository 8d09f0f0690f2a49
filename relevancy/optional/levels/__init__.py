"""Changes of the level: from which run on the score of a case is higher or lower than by chance."""
