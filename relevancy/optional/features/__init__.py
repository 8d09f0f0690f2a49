"""Features of documents, logged from the engine without plugins, and models of them: learning to rank. See docs/features.md."""
