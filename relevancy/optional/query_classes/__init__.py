"""Query classes: rules that set tags on the queries of a case, and the sentence that says which class gains and which fails."""
