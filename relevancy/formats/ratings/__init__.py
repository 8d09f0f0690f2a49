"""Ratings: one module for each format, and the import that they share."""
