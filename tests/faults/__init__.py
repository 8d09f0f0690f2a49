"""Faults: real processes are killed and starved while people work, and SQL says afterwards whether anything was lost.

`python -m tests.faults report.md` runs everything; `--quick` the part that the gate runs. See CONTRIBUTING.md.
"""
