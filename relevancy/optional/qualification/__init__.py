"""The qualification of new raters: documents with known grades that they judge before their ratings of a book count."""
