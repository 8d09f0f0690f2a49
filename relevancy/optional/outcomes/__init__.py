"""Outcomes of interleaving and A/B tests that were made elsewhere, beside the verdicts of comparisons."""
