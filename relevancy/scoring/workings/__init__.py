"""How each measure shows its working: one file for each family. A working computes its result from its own table, so
that the tests can hold it against the measure's arithmetic."""
