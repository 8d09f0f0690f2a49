"""The guides of docs/ and of the optional apps, with a search over their sections."""
