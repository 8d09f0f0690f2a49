"""Tests against real engines on loopback; `make engines` fetches them."""
