"""Run as a process of its own by `regular_expressions`, without packages: reads a pattern and texts as JSON from stdin, and writes the
positions of the texts that it occurs in, or the reason why it is invalid."""

import json
import re
import sys
import warnings


def main() -> None:
    """Answers one request."""
    warnings.simplefilter("ignore")  # of patterns that a later version of Python may read in another way
    request = json.load(sys.stdin.buffer)
    try:
        pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignores_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        json.dump(str(error) or "it is nested too deeply", sys.stdout)
        return
    json.dump([position for position, text in enumerate(request["texts"]) if pattern.search(text)], sys.stdout)


if __name__ == "__main__":
    main()
