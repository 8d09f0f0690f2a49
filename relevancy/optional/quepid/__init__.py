"""Files of Quepid: cases, books and snapshots that come from there, and files that go back."""
