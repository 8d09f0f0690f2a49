"""Relevancy: rate search results, score queries, tune them, prove that search got better."""
