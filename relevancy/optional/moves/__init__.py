"""Documents whose ids have changed in the index: their ratings are found by URL or title, and moved."""
