"""Metrics of the site and of its cases for Prometheus. See docs/metrics.md."""
