"""The engine `http`: any search API that speaks JSON, with presets for well-known products and a page that tries a mapping."""
