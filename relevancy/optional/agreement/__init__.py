"""The agreement of raters: how far all of them, two of them, or one with themselves agree, and what one rater alone would score."""
