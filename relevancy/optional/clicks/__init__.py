"""Search logs: samples of their queries with weights, and clicks as grades that stand apart until an editor accepts them as ratings."""
