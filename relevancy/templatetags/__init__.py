"""How numbers, ratings and small charts look on a page: pure formatting, no models."""
