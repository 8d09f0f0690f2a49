"""The second factor of signing in: codes of an authenticator app, and recovery codes."""
