"""The range of a score: the lowest and the highest value that rating the unrated documents in the first k could give."""
