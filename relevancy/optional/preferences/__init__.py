"""Preference tests: raters say which of two result lists is better, without knowing which run is which."""
