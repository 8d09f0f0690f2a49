"""How Chromium is started: without a sandbox (root in a container has none), without a screen, and without network traffic
of its own."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
