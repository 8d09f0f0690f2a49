"""Cases and groups that the worker runs by itself at set times, and what is reported about them."""
