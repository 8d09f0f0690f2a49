"""How sure a score is: the lowest and highest value that rating the unrated documents shown could still give."""
