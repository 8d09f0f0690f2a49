"""Interface: the REST API. Each operation checks scope and permission, makes one call to a service, and returns data.

It computes no figures: scores and comparisons are those of the pages, from the same services.
"""
