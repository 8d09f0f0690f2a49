"""Regular expressions of users, searched for in a child process, which is stopped if it takes too long."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ValidationError

SECONDS = 5.0  # for the texts of one call; ordinary patterns take a tenth for 20,000
_CHILD = Path(__file__).with_name("pattern_child.py")


def find_matching(
    pattern: str, texts: Sequence[str], *, ignores_case: bool = True, seconds: float = SECONDS
) -> list[bool]:
    """Returns for each text whether the pattern occurs in it.

    Raises `ValidationError` if the pattern is invalid, or takes longer than so many seconds for all texts.
    """
    request = json.dumps({"pattern": pattern, "ignores_case": ignores_case, "texts": texts})
    try:
        child = subprocess.run(
            [sys.executable, "-I", "-S", str(_CHILD)],
            input=request.encode(),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise ValidationError(
            {
                "pattern": f"The pattern {_shortened(pattern)} took more than {seconds:g} seconds and was stopped. Repetitions within "
                "repetitions, such as (a+)+, take long. Use a simpler pattern."
            }
        ) from None
    answer = json.loads(child.stdout)
    if isinstance(answer, str):
        raise ValidationError({"pattern": f"The pattern {_shortened(pattern)} is not valid: {answer}. Correct it."})
    found = set(answer)
    return [position in found for position in range(len(texts))]


def _shortened(pattern: str) -> str:
    return f"“{pattern if len(pattern) <= 60 else f'{pattern[:59]}…'}”"
