"""The adapter for the embedded engine, on small documents and on real films."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from relevancy.engines.embedded.build import build_index
from relevancy.engines.embedded.engine import EmbeddedEngine
from relevancy.engines.embedded.query import KEYS, required_words
from relevancy.engines.errors import BadQuery, EndpointUnreachable, UnreadableResponse
from relevancy.engines.explanations import failed_clauses, matching_part
from relevancy.engines.fields.specs import parse_fields
from relevancy.engines.templates.template import parse_template
from relevancy.engines.transport.addresses import AddressRules
from relevancy.engines.types import Connection, FailedClause, Request
from tests.shared_data import shared_data

DOCS = [
    {"id": "d", "title": "Star Trek", "text": "A ship among the stars", "genres": ["Science Fiction"], "year": 1979, "rank": 7.5},
    {"id": "a", "title": "Star Wars", "text": "A war far away", "genres": ["Science Fiction", "Adventure"], "year": 1977, "rank": 8},
    {"id": "b", "title": "The Wars of a Star", "text": "Nothing else", "genres": ["Comedy"], "year": 1999},
    {"id": "c", "title": "Größe über alles", "text": "Café “Zur Post” running", "genres": [], "year": 2001, "good": True},
    {"id": "e", "title": "Nothing", "text": "", "genres": ["Comedy"], "year": None, "crew": {"chief": [{"name": "Ana Star"}]}},
]  # fmt: skip


@pytest.fixture
def engine(tmp_path):
    build_index(tmp_path, "films", DOCS)
    return engine_at(tmp_path)


def engine_at(folder, name="films"):
    return EmbeddedEngine(Connection("embedded", name, AddressRules(), data_dir=folder))


def request(query="star wars", fields="id title", rows=10, start=0, **body):
    template = parse_template(json.dumps({"query": "#$query##", **body}), "json")
    return Request(query, template, parse_fields(fields), rows, start)


def ids(engine, *args, **kwargs):
    return [hit.id for hit in engine.search(request(*args, **kwargs)).hits]


def test_search_returns_ranked_hits_total_and_rendered_request(engine):
    page = engine.search(request(rows=2, fields="title:title year", operator="and"))
    assert [hit.id for hit in page.hits] == ["a", "b"]
    assert page.hits[0].fields == {"id": "a", "title": "Star Wars", "year": 1977}
    assert page.hits[0].score > page.hits[1].score > 0
    assert page.total == 2
    body = {"query": "star wars", "operator": "and"}
    assert page.rendered_request == {"index": "films", "body": body, "start": 0, "rows": 2}
    assert page.took_ms >= 0


def test_search_pages_through_all_hits(engine):
    all_ids = ids(engine)
    assert len(all_ids) == 4
    assert ids(engine, rows=3) + ids(engine, rows=3, start=3) == all_ids
    assert ids(engine, rows=3, start=4) == ids(engine, rows=3, start=99) == []
    page_without_rows = engine.search(request(rows=0))
    assert (page_without_rows.hits, page_without_rows.total) == ((), 4)


def test_search_stems_folds_and_ignores_case(engine):
    assert ids(engine, "GROSSE") == ids(engine, "größe") == ids(engine, "run cafe") == ["c"]


@pytest.mark.parametrize("query", ["", "  ", "😀", '"', "*", "+-&|!(){}[]^~?:\\/"])
def test_search_without_a_word_finds_nothing(engine, query):
    page = engine.search(request(query))
    assert (page.hits, page.total) == ((), 0)


@pytest.mark.parametrize("query", ['"star" AND wars:', "star 😀 wars", "star\nwars\\", "(star^2 wars~"])
def test_search_treats_punctuation_as_a_separator(engine, query):
    assert ids(engine, query) == ids(engine, "star wars and" if "AND" in query else "star wars")


def test_search_very_long_text(engine):
    page = engine.search(request(("star wars 😀 größe " * 200)[:2000], phrase={"title": 2}, fuzzy=2))
    assert page.total == 5


def test_search_without_query_returns_all_documents_by_id(engine):
    template = parse_template("{}", "json")
    page = engine.search(Request("x", template, parse_fields("id"), 10))
    assert [hit.id for hit in page.hits] == ["a", "b", "c", "d", "e"]


def test_search_fields_and_boosts_in_every_notation(engine):
    notations = ({"text": 3, "title": 1}, ["text^3", "title"], "text^3 title")
    pages = [body_search(engine, "war", fields=notation) for notation in notations]
    assert pages[0].hits == pages[1].hits == pages[2].hits
    assert [hit.id for hit in pages[0].hits] == ["a", "b"]
    [plain] = body_search(engine, "far", fields=["text"]).hits
    [boosted] = body_search(engine, "far", fields=["text^3"]).hits
    assert boosted.score == pytest.approx(3 * plain.score)


def body_search(engine, query, rows=10, **body):
    template = parse_template(json.dumps({"query": "#$query##", **body}), "json")
    return engine.search(Request(query, template, parse_fields("id"), rows))


def test_search_best_fields_scores_the_best_and_most_fields_the_sum(engine):
    def score(**body):
        return body_search(engine, "war", fields={"title": 1, "text": 1}, filter={"year": 1977}, **body).hits[0].score

    title = body_search(engine, "war", fields={"title": 1}, filter={"year": 1977}).hits[0].score
    text = body_search(engine, "war", fields={"text": 1}, filter={"year": 1977}).hits[0].score
    assert score() == score(type="best_fields", tie=0) == pytest.approx(max(title, text))
    assert score(tie=0.5) == pytest.approx(max(title, text) + 0.5 * min(title, text))
    assert score(type="most_fields") == pytest.approx(title + text)


@pytest.mark.parametrize(
    ("spec", "words", "expected"),
    [
        (1, 3, 1), (0, 3, 1), (2, 3, 2), (9, 3, 3), (-1, 3, 2), (-9, 3, 1), ("75%", 3, 2), ("75%", 4, 3), ("-25%", 4, 3),
        ("-25%", 3, 3), ("100%", 5, 5), ("2<75%", 2, 2), ("2<75%", 4, 3), ("2<-25% 9<-3", 1, 1), ("2<-25% 9<-3", 8, 6),
        ("2<-25% 9<-3", 12, 9), ("1%", 5, 1),
    ],
)  # fmt: skip
def test_required_words_follows_solrs_rules(spec, words, expected):
    assert required_words(spec, words) == expected


def test_search_minimum_should_match_and_operator(engine):
    assert body_search(engine, "star wars nothing", minimum_should_match="75%").total == 3
    assert body_search(engine, "star wars nothing", minimum_should_match="100%").total == 1
    assert body_search(engine, "star wars nothing", operator="AND").total == 1
    assert body_search(engine, "star wars nothing").total == 4


def test_search_phrase_boosts_words_in_order(engine):
    plain = {hit.id: hit.score for hit in body_search(engine, "star wars").hits}
    phrase = {hit.id: hit.score for hit in body_search(engine, "star wars", phrase={"title": 3}).hits}
    assert phrase["a"] > plain["a"]
    assert phrase["b"] == pytest.approx(plain["b"])
    assert body_search(engine, "star", phrase=["title^3"]).hits == body_search(engine, "star").hits


def test_search_fuzzy_ranks_misspelt_words_below_exact_ones(engine):
    assert body_search(engine, "trak").total == 0
    hits = body_search(engine, "trak trek", fuzzy=1).hits
    assert [hit.id for hit in hits] == ["d"]
    exact, similar = (body_search(engine, word, fuzzy=1).hits[0].score for word in ("trek", "trak"))
    assert exact > similar > 0


def test_search_filters_without_scoring(engine):
    def filtered_ids(**limits):
        return sorted(hit.id for hit in body_search(engine, "star", fields=["title"], filter=limits).hits)

    assert filtered_ids(genres="Comedy") == ["b"]
    assert filtered_ids(good=True) == filtered_ids(good=False) == []
    assert filtered_ids(genres=["Adventure", "Comedy"]) == ["a", "b"]
    assert filtered_ids(genres=[]) == []
    assert filtered_ids(genres="Science Fiction", year={"gt": 1977}) == ["d"]
    assert (
        filtered_ids(year={"gte": 1977, "lt": 1979})
        == filtered_ids(year={"gt": 1976.5, "lte": 1977.9})
        == filtered_ids(year=1977)
        == ["a"]
    )
    assert filtered_ids(year={}) == ["a", "b", "d"]
    assert filtered_ids(rank={"gt": 7.5}) == ["a"]
    assert filtered_ids(rank={"lte": 7.5}) == ["d"]
    assert filtered_ids(title="star wars") == ["a"]
    assert filtered_ids(title="WARS") == ["a", "b"]
    assert filtered_ids(title="!") == []
    filtered = body_search(engine, "cafe", filter={"good": True})
    assert filtered.hits[0].score == body_search(engine, "cafe").hits[0].score


def test_search_sorts_with_missing_values_last(engine):
    def order(sort):
        template = parse_template(json.dumps({"sort": sort}), "json")
        return [hit.id for hit in engine.search(Request("", template, parse_fields("id"), 10)).hits]

    assert order([{"year": "desc"}]) == ["c", "b", "d", "a", "e"]
    assert order(["year"]) == ["a", "d", "b", "c", "e"]
    assert order([{"rank": "desc"}, {"year": "desc"}]) == ["a", "d", "c", "b", "e"]
    by_score = [hit.id for hit in body_search(engine, "star wars", sort=["_score"]).hits]
    assert by_score == [hit.id for hit in body_search(engine, "star wars").hits]
    page = body_search(engine, "star wars", sort=[{"year": "asc"}], rows=2)
    assert ([hit.id for hit in page.hits], page.total) == (["a", "d"], 4)


def test_search_reaches_nested_fields_and_keywords(engine):
    assert [hit.id for hit in body_search(engine, "ana", fields=["crew.chief.name"]).hits] == ["e"]
    assert [hit.id for hit in body_search(engine, "true", fields=["good", "title"]).hits] == ["c"]


def test_search_equal_scores_come_in_id_order_in_every_build(tmp_path):
    docs = [{"id": f"{number:03}", "title": "same words"} for number in range(300)]
    rankings = []
    for order in (docs, docs[::-1], docs[150:] + docs[:150]):
        build_index(tmp_path, "films", order)
        rankings.append(ids(engine_at(tmp_path), "words", rows=50))
    assert rankings == [[f"{number:03}" for number in range(50)]] * 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"size": 3}, rf"“size” is not a valid key in a request to the embedded engine\. Use one of: {', '.join(KEYS)}"),
        ({"fields": {"tilte": 3}}, "names the field “tilte”.*Use one of: crew.chief.name, genres, good, id, rank"),
        ({"fields": {"title": "x"}}, '“fields.title” is "x".*a number from 0'),
        ({"fields": {"title": -1}}, "“fields.title” is -1"),
        ({"fields": {"title": True}}, "“fields.title” is true"),
        ({"fields": 3}, "“fields” is 3"),
        ({"fields": ["year"]}, "“year” is a number field"),
        ({"type": "cross_fields"}, "“cross_fields” is not a valid “type”.*Use one of: best_fields, most_fields"),
        ({"tie": 2}, "“tie” is 2.*from 0 to 1"),
        ({"operator": "not"}, "“not” is not a valid “operator”"),
        ({"minimum_should_match": "half"}, "“minimum_should_match” is \"half\""),
        ({"phrase": {"good": 1}}, "“phrase” names “good”, which is a keyword field"),
        ({"fuzzy": 3}, "“fuzzy” is 3"),
        ({"fuzzy": 0.5}, "“fuzzy” is 0.5.*whole number"),
        ({"filter": []}, r"“filter” is \[\]"),
        ({"filter": {"nope": 1}}, "“filter” names the field “nope”"),
        ({"filter": {"title": {"gte": 1}}}, "has a range for “title”, which is a text field"),
        ({"filter": {"year": {"from": 1}}}, "“from” is not a valid range operator.*Use one of: gt, gte, lt, lte"),
        ({"filter": {"year": "x"}}, "“filter.year” is \"x\""),
        ({"sort": [{"title": "asc"}]}, "“sort” names “title”, which is a text field.*number field or _score"),
        ({"sort": [{"year": "up"}]}, "“up” is not a valid order of “sort”"),
        ({"sort": 5}, "“sort” is 5"),
        ({"query": {"match": 1}}, "“query” is"),
    ],
)  # fmt: skip
def test_search_rejects_invalid_requests(engine, body, message):
    template = parse_template(json.dumps({"query": "#$query##", **body}), "json")
    with pytest.raises(BadQuery, match=message):
        engine.search(Request("star wars", template, parse_fields("id"), 10))


def test_search_rejects_a_request_that_is_not_an_object(engine):
    with pytest.raises(BadQuery, match="not a JSON object"):
        engine.search(Request("x", parse_template("[]", "json"), parse_fields("id"), 10))


def test_search_hit_without_the_named_id_field_is_unreadable(engine):
    with pytest.raises(UnreadableResponse, match="its field “sku” is missing"):
        engine.search(request(fields="id:sku"))


def test_search_many_continues_after_an_error(engine):
    outcomes = list(engine.search_many([request(), request(size=1), request("trek")]))
    assert [number for number, _ in outcomes] == [0, 1, 2]
    assert isinstance(outcomes[1][1], BadQuery)
    assert [hit.id for hit in outcomes[2][1].hits] == ["d"]
    assert outcomes[0][1].hits == engine.search(request()).hits


def test_search_many_stops(engine):
    seen = []
    for number, _ in engine.search_many([request()] * 5, stop=lambda: len(seen) == 2):
        seen.append(number)
    assert seen == [0, 1]


def test_search_many_without_index_yields_errors(tmp_path):
    outcomes = [outcome for _, outcome in engine_at(tmp_path).search_many([request()] * 2)]
    assert [type(outcome) for outcome in outcomes] == [EndpointUnreachable] * 2


def test_search_from_several_threads(engine):
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: engine.search(request()).hits, range(40)))
    assert outcomes == [engine.search(request()).hits] * 40


def test_lookup_keeps_the_given_order_without_unknown_ids(engine):
    hits = engine.lookup(["e", "nope", "a", ""], parse_fields("title year"))
    assert [(hit.id, hit.score, hit.fields) for hit in hits] == [
        ("e", None, {"id": "e", "title": "Nothing"}),
        ("a", None, {"id": "a", "title": "Star Wars", "year": 1977}),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fields": {"title": 5, "text": 1}, "tie": 0.3, "phrase": {"title": 3}, "fuzzy": 1},
        {"type": "most_fields", "fields": ["title^2", "text"], "filter": {"year": {"gte": 1900}}},
        {"fields": ["title", "genres", "good"], "minimum_should_match": "75%"},
        {"fields": ["title"], "sort": [{"year": "desc"}]},
    ],
)
def test_explain_adds_up_to_the_score(engine, body):
    template = parse_template(json.dumps({"query": "#$query##", **body}), "json")
    search_request = Request("star wars", template, parse_fields("id"), 10)
    for hit in engine.search(search_request).hits:
        tree = engine.explain(search_request, hit.id)
        assert tree["value"] == pytest.approx(hit.score, rel=1e-5)
        assert_adds_up(tree)


def assert_adds_up(node):
    assert set(node) == {"value", "description", "details"}
    values = [detail["value"] for detail in node["details"]]
    if node["description"].startswith("weight("):
        factors = 1.0
        for value in values:
            factors *= value
        if not node["description"].split(":")[1].startswith('"') and "~" not in node["description"]:
            assert factors == pytest.approx(node["value"], rel=1e-4)
        return
    assert sum(values) == pytest.approx(node["value"], rel=1e-5)
    for detail in node["details"]:
        assert_adds_up(detail)


def test_explain_names_fields_and_terms(engine):
    template = parse_template(
        '{"query": "#$query##", "fields": ["title^5", "text"], "tie": 0.1, "phrase": {"title": 3}}', "json"
    )
    tree = engine.explain(Request("star war", template, parse_fields("id"), 10), "a")
    words, phrase = tree["details"]
    assert (tree["description"], phrase["description"]) == ("sum of:", 'weight(title:"star war")')
    assert [detail["description"] for detail in words["details"]] == [
        "weight(title:star)",
        "max plus 0.1 times others of:",
    ]
    assert [leaf["description"] for leaf in words["details"][1]["details"]] == ["weight(title:war)", "weight(text:war)"]
    assert phrase["details"][0] == {"value": 3.0, "description": "boost", "details": []}


def test_explain_of_a_document_that_does_not_match_or_exist(engine):
    assert engine.explain(request("trek"), "a")["value"] == 0
    assert engine.explain(request(filter={"year": 1999}), "a")["value"] == 0
    assert "has no word" in engine.explain(request(""), "a")["description"]
    with pytest.raises(BadQuery, match="no document with the id “nope”"):
        engine.explain(request(), "nope")


def test_explain_names_the_words_that_are_missing(engine):
    template = parse_template('{"query": "#$query##", "fields": ["title"], "minimum_should_match": 2}', "json")
    tree = engine.explain(Request("star trek", template, parse_fields("id"), 10), "a")
    (failed,) = failed_clauses(tree)
    assert (failed.kind, failed.clause, failed.minimum) == ("minimum", "(title:star title:trek)~2", 2)
    assert (failed.matching, failed.missing) == (("title:star",), ("title:trek",))
    alone = engine.explain(Request("star", template, parse_fields("id"), 10), "a")
    assert matching_part(tree).value == pytest.approx(alone["value"])


def test_explain_names_the_filters_that_leave_a_document_out(engine):
    tree = engine.explain(request("star", filter={"year": {"gte": 1999}}), "a")
    assert failed_clauses(tree) == (FailedClause("required", 'year:{"gte": 1999}'),)
    assert matching_part(tree).value == pytest.approx(engine.explain(request("star"), "a")["value"])
    both = engine.explain(request("trek", filter={"year": 1999}), "a")
    assert [failed.clause for failed in failed_clauses(both)][1:] == ["year:1999"]


def test_explain_of_a_request_without_query(engine):
    search_request = Request("", parse_template("{}", "json"), parse_fields("id"), 1)
    assert engine.explain(search_request, "a") == {"value": 1.0, "description": "every document", "details": []}


def test_fields_and_version(engine):
    assert engine.fields() == ["crew.chief.name", "genres", "good", "id", "rank", "text", "title", "year"]
    assert engine.version().startswith("tantivy 0.")


def test_example_template_works(engine):
    template = parse_template(EmbeddedEngine.example_template, EmbeddedEngine.syntax)
    body = template.render(query="x", options={}, knobs={"title_boost": 5})
    assert body["fields"]["title"] == 5
    assert set(body) <= set(KEYS)


@pytest.mark.parametrize("name", ["nope", "../films", "a/b", "", ".", "x" * 65, "films\n"])
def test_version_without_index(tmp_path, name):
    with pytest.raises(EndpointUnreachable, match=r"Load documents|Use up to 64 letters"):
        engine_at(tmp_path, name).version()


def test_version_without_data_folder():
    with pytest.raises(EndpointUnreachable, match="RELEVANCY_DATA_DIR"):
        engine_at(None).version()


@pytest.mark.parametrize("damage", ["{", "[]", '{"build": "x", "id_field": "id", "fields": {}}', "{}"])
def test_version_of_a_damaged_index(tmp_path, damage):
    build_index(tmp_path, "films", DOCS)
    (tmp_path / "films" / "index.json").write_text(damage)
    with pytest.raises(UnreadableResponse, match=r"“films” cannot be opened.*Load its documents again"):
        engine_at(tmp_path).version()


def test_build_index_replaces_and_removes_the_old_build(tmp_path):
    assert build_index(tmp_path, "films", DOCS) == 5
    engine = engine_at(tmp_path)
    assert ids(engine, "trek") == ["d"]
    assert build_index(tmp_path, "films", [{"id": "z", "title": "Trek again"}]) == 1
    assert ids(engine, "trek") == ["z"]
    assert engine.fields() == ["id", "title"]
    assert len([path for path in (tmp_path / "films").iterdir() if path.is_dir()]) == 1


def test_build_index_keeps_the_old_build_after_a_failure(tmp_path):
    build_index(tmp_path, "films", DOCS)
    with pytest.raises(ValueError, match="Document 2 has no id"):
        build_index(tmp_path, "films", [{"id": "q"}, {"year": 1}])
    assert ids(engine_at(tmp_path), "trek") == ["d"]
    assert len(list((tmp_path / "films").iterdir())) == 2


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        ([{"id": "a"}, {"title": "x"}], "Document 2 has no id"),
        ([{"id": " "}], "Document 1 has no id"),
        ([{"id": "a"}, {"id": " a"}], "Document 2 has the id “a”, which an earlier document has too"),
    ],
)
def test_build_index_rejects_invalid_documents(tmp_path, docs, message):
    with pytest.raises(ValueError, match=message):
        build_index(tmp_path, "films", docs)
    assert not (tmp_path / "films" / "index.json").exists()


def test_build_index_accepts_unusual_documents(tmp_path):
    docs = [
        {"id": 1, "a b": "blank name", "mixed": ["x", 3, None, True], "huge": 10**30, "nan": float("nan"), "long": "y" * 90_000},
        {"id": 2, "a b": [], "mixed": {"deep": "z"}, "huge": -1, "nan": 1.5, "_id": "own", "f0": "own"},
    ]  # fmt: skip
    build_index(tmp_path, "odd", docs)
    engine = engine_at(tmp_path, "odd")
    assert [hit.id for hit in body_search(engine, "blank").hits] == ["1"]
    assert [hit.id for hit in body_search(engine, "true").hits] == ["1"]
    assert [hit.id for hit in body_search(engine, "own").hits] == ["2"]
    assert [hit.id for hit in body_search(engine, "own blank", filter={"huge": {"lt": 0}}).hits] == ["2"]
    assert engine.lookup(["2"], parse_fields("*"))[0].fields == docs[1]


def test_build_index_without_documents(tmp_path):
    assert build_index(tmp_path, "none", []) == 0
    page = engine_at(tmp_path, "none").search(request())
    assert (page.hits, page.total) == ((), 0)


def test_search_many_of_real_films(tmp_path):
    films = shared_data("movies")
    with (films / "movies.jsonl").open(encoding="utf-8") as lines:
        build_index(tmp_path, "films", map(json.loads, lines))
    with (films / "ratings.csv").open(encoding="utf-8", newline="") as rows:
        queries = list(dict.fromkeys(row["query"] for row in csv.DictReader(rows)))
    engine = engine_at(tmp_path)
    template = parse_template('{"query": "#$query##", "fields": ["title^5", "cast^2", "overview"], "tie": 0.1}', "json")
    requests = [Request(queries[n % len(queries)], template, parse_fields("title overview"), 10) for n in range(1000)]
    outcomes = [outcome for _, outcome in engine.search_many(requests)]
    assert sum(len(outcome.hits) for outcome in outcomes) > 9_000
    first = dict(zip(queries, outcomes, strict=False))
    assert "Rambo" in {hit.fields["title"] for hit in first["rambo"].hits}
