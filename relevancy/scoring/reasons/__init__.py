"""Gives the reasons for scores in words: facts about a ranking, the clauses that follow from them, and the sentence."""
