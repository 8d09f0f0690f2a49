"""Studies: better values for the knobs of an attempt, and how much of their gain is luck."""
