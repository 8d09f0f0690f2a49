"""Query templates in Quepid's syntax: parsing and rendering."""
