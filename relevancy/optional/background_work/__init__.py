"""The page “Work” of the administration: tasks, workers, runs, sizes of tables and free disk. See docs/background-work.md."""
