"""Words of sentences that contain a number, for messages of every room."""


def counted(count: int, singular: str, plural: str = "") -> str:
    """ "1 query", "1,204 queries"; without `plural`, the plural ends in "s"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"
