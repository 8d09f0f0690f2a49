"""The script that a text is written in."""

import unicodedata
from functools import lru_cache

# By the first word of the Unicode names of its letters.
_SCRIPTS = {
    "LATIN": "Latin",
    "CYRILLIC": "Cyrillic",
    "GREEK": "Greek",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "CJK": "Han",
    "HIRAGANA": "Kana",
    "KATAKANA": "Kana",
    "HIRAGANA-KATAKANA": "Kana",
    "KATAKANA-HIRAGANA": "Kana",
    "HANGUL": "Hangul",
    "THAI": "Thai",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "ETHIOPIC": "Ethiopic",
}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")
OTHER = "another one"
SCRIPTS = (*dict.fromkeys(_SCRIPTS.values()), OTHER)


def find_script(text: str) -> str:
    """Returns one of `SCRIPTS`, that of most letters; of several, the one that comes first in the text. Empty without letters."""
    counts: dict[str, int] = {}
    for character in text:
        if script := _script_of(character):
            counts[script] = counts.get(script, 0) + 1
    return max(counts, key=lambda script: counts[script]) if counts else ""


@lru_cache(maxsize=20_000)
def _script_of(character: str) -> str:
    """Returns the script of a letter; empty for other characters, and for letters that all scripts share, such as ª."""
    if not character.isalpha():
        return ""
    words = unicodedata.name(character, "").split()
    name = words[1] if words[:1] and words[0] in _WIDTHS else words[0] if words else ""
    return _SCRIPTS.get(name, "" if name in {"FEMININE", "MASCULINE", "MICRO", "MODIFIER"} else OTHER)
