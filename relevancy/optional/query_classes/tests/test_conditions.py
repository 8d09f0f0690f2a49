"""Which queries match the conditions of rules."""

import re
import time

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.optional.query_classes.conditions import QueryFacts, build_matcher, describe, split_words
from relevancy.optional.query_classes.forms import FORMS, build_form
from relevancy.optional.query_classes.models import TagRule
from relevancy.optional.query_classes.regular_expressions import find_matching
from relevancy.optional.query_classes.scripts import find_script

Kind = TagRule.Kind
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40)


def matching(kind, texts, **setting):
    return [
        text
        for text, is_match in zip(texts, match(kind, [QueryFacts(text, {}) for text in texts], **setting), strict=True)
        if is_match
    ]


def match(kind, facts, **setting):
    return build_matcher(kind, setting)(facts)


def test_words_are_found_whole_in_any_case_and_as_phrases():
    texts = [
        "Cheap shoes",
        "cheapest shoes",
        "shoes, CHEAP!",
        "running shoe",
        "shoe for running",
        "straße",
        "STRASSE 1",
    ]
    assert matching(Kind.WORDS, texts, words=["cheap"]) == ["Cheap shoes", "shoes, CHEAP!"]
    assert matching(Kind.WORDS, texts, words=["running shoe"]) == ["running shoe"]
    assert matching(Kind.WORDS, texts, words=["strasse"]) == ["straße", "STRASSE 1"]


def test_words_of_scripts_with_vowel_signs_stay_whole():
    assert split_words("हिन्दी किताब") == ["हिन्दी", "किताब"]


@pytest.mark.parametrize(
    ("minimum", "maximum", "expected"),
    [(None, 1, ["a"]), (2, 2, ["a b"]), (2, None, ["a b", "a b c"]), (4, None, [])],
)
def test_ranges_include_both_ends(minimum, maximum, expected):
    assert matching(Kind.WORD_COUNT, ["a", "a b", "a b c"], minimum=minimum, maximum=maximum) == expected


def test_length_counts_characters():
    assert matching(Kind.LENGTH, ["ab", "日本", "abc"], minimum=2, maximum=2) == ["ab", "日本"]


def test_digits_of_any_script():
    assert matching(Kind.DIGIT, ["iphone 15", "iphone", "٣"]) == ["iphone 15", "٣"]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("shoes", "Latin"),
        ("обувь nike", "Cyrillic"),
        ("nike обувь", "Cyrillic"),
        ("παπούτσια", "Greek"),
        ("أحذية", "Arabic"),
        ("נעליים", "Hebrew"),
        ("运动鞋", "Han"),
        ("スニーカー", "Kana"),
        ("ｽﾆｰｶｰ", "Kana"),
        ("Ｓｈｏｅ", "Latin"),
        ("운동화", "Hangul"),
        ("รองเท้า", "Thai"),
        ("जूते", "Devanagari"),
        ("ab чд", "Latin"),
        ("123 !?", ""),
        ("", ""),
    ],
)
def test_the_script_is_that_of_most_letters(text, script):
    assert find_script(text) == script


def test_not_latin_leaves_out_queries_without_letters():
    texts = ["shoes", "обувь", "123", "ᚠᚢᚦ"]
    assert matching(Kind.SCRIPT, texts, script="not Latin") == ["обувь", "ᚠᚢᚦ"]
    assert matching(Kind.SCRIPT, texts, script="another one") == ["ᚠᚢᚦ"]


def test_results_of_queries_that_were_not_searched_match_nothing():
    facts = [QueryFacts("a", {}, 0), QueryFacts("b", {}, None), QueryFacts("c", {}, 7)]
    assert match(Kind.RESULTS, facts, minimum=None, maximum=0) == [True, False, False]
    assert match(Kind.RESULTS, facts, minimum=1, maximum=None) == [False, False, True]


def test_options_by_key_path_and_value():
    options = [{"market": "de"}, {"filter": {"brand": ["a", 3]}}, {}, {"market": None}, {"filter": "x"}]
    facts = [QueryFacts("q", option) for option in options]
    assert match(Kind.OPTION, facts, key="market", value="") == [True, False, False, True, False]
    assert match(Kind.OPTION, facts, key="market", value="de") == [True, False, False, False, False]
    assert match(Kind.OPTION, facts, key="filter.brand", value="3") == [False, True, False, False, False]
    assert match(Kind.OPTION, facts, key="market", value="null") == [False, False, False, True, False]


def test_lists_ignore_case():
    facts = [QueryFacts("Star Wars", {}), QueryFacts("alien", {})]
    assert match(Kind.LIST, facts, texts=["star wars", "Alien 3"]) == [True, False]


def test_patterns_occur_anywhere():
    assert matching(Kind.PATTERN, ["DVD 3", "3 dvd"], pattern=r"^dvd", ignores_case=True) == ["DVD 3"]
    assert matching(Kind.PATTERN, ["DVD 3", "3 dvd"], pattern=r"dvd$", ignores_case=False) == ["3 dvd"]


def test_a_catastrophic_pattern_is_stopped():
    started = time.monotonic()
    with pytest.raises(ValidationError, match="was stopped"):
        find_matching("(a+)+$", ["a" * 60 + "b"], seconds=0.5)
    assert time.monotonic() - started < 30  # without the limit, longer than the universe has existed


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<a>x)(?P<a>y)", "[z-a]"])
def test_an_invalid_pattern_says_why(pattern):
    with pytest.raises(ValidationError, match="is not valid: "):
        find_matching(pattern, [])


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, max_size=20), TEXTS)
def test_a_pattern_finds_what_the_module_of_the_language_finds(texts, part):
    pattern = re.escape(part)
    found = find_matching(pattern, texts, ignores_case=False)
    assert found == [part in text for text in texts]


@given(TEXTS, TEXTS)
def test_a_word_of_a_text_matches_it(text, other):
    words = split_words(text)
    for word in words:
        assert match(Kind.WORDS, [QueryFacts(text, {})], words=[word]) == [True]
    is_in_other = set(words[:1]) <= set(split_words(other))
    if words:
        assert match(Kind.WORDS, [QueryFacts(other, {})], words=[words[0]]) == [is_in_other]


@given(TEXTS, st.integers(0, 50), st.integers(0, 50))
def test_a_length_is_below_within_or_above(text, low, width):
    facts = [QueryFacts(text, {})]
    parts = [(None, low - 1), (low, low + width), (low + width + 1, None)]
    found = [match(Kind.LENGTH, facts, minimum=minimum, maximum=maximum) for minimum, maximum in parts]
    assert sum(is_match for (is_match,) in found) == 1


@given(TEXTS)
def test_every_text_has_one_script_or_no_letter(text):
    script = find_script(text)
    assert bool(script) <= any(character.isalpha() for character in text)
    assert matching(Kind.SCRIPT, [text], script="not Latin") == ([text] if script not in ("", "Latin") else [])


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Kind.WORDS, {"words": " \n"}),
        (Kind.WORDS, {"words": "!?"}),
        (Kind.WORDS, {"words": "\n".join(map(str, range(501)))}),
        (Kind.WORD_COUNT, {}),
        (Kind.WORD_COUNT, {"minimum": "3", "maximum": "2"}),
        (Kind.LENGTH, {"minimum": "-1"}),
        (Kind.LENGTH, {"minimum": {}}),
        (Kind.SCRIPT, {"script": "Klingon"}),
        (Kind.PATTERN, {"pattern": "("}),
        (Kind.PATTERN, {"pattern": ""}),
        (Kind.OPTION, {"key": ""}),
        (Kind.LIST, {"texts": []}),
        (Kind.DIGIT, {"tag": "a, b"}),
        (Kind.DIGIT, {"tag": " "}),
        (Kind.DIGIT, {"tag": "x" * 51}),
    ],
)
def test_settings_that_are_refused(kind, data):
    assert not build_form(kind, {"tag": "a", **data}).is_valid()


@pytest.mark.parametrize(
    ("kind", "data", "condition"),
    [
        (Kind.WORDS, {"words": ["a", "b b"]}, "contains “a” or “b b”"),
        (Kind.WORD_COUNT, {"minimum": 5}, "has 5 words or more"),
        (Kind.WORD_COUNT, {"maximum": 1}, "has at most 1 word"),
        (Kind.LENGTH, {"minimum": 2, "maximum": 4}, "has 2 to 4 characters"),
        (Kind.RESULTS, {"minimum": 0, "maximum": 0}, "had 0 results in the last complete run"),
        (Kind.DIGIT, {}, "contains a digit"),
        (Kind.SCRIPT, {"script": "not Latin"}, "most letters are not Latin"),
        (Kind.PATTERN, {"pattern": "a  b", "ignores_case": True}, "matches a  b"),
        (Kind.OPTION, {"key": "market", "value": "de"}, "has the option market = de"),
        (Kind.LIST, {"texts": "a\nb\na"}, "is one of 2 texts"),
    ],
)
def test_conditions_in_words(kind, data, condition):
    form = build_form(kind, {"tag": "a", **data})
    assert form.is_valid(), form.errors
    assert describe(kind, form.settings) == condition
    again = build_form(kind, {"tag": "a", **form.settings})  # what is stored is what the form takes
    assert again.is_valid()
    assert again.settings == form.settings


def test_every_kind_has_a_form():
    assert set(FORMS) == set(Kind.values)
