"""Explains scores in words: facts about a ranking, the reasons that follow from them, and their wording."""
