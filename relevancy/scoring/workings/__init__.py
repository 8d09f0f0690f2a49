"""Shows how a score is computed: one table for each measure. A working computes its result from its own table, so that
the tests can compare it with the measure's arithmetic."""
