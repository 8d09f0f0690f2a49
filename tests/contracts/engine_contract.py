"""What every engine adapter must do."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from relevancy import engines
from relevancy.engines import (
    BadQuery,
    EndpointUnreachable,
    EngineError,
    Page,
    UnreadableResponse,
    UnsupportedByEngine,
    parse_fields,
)
from relevancy.engines.fields.highlighting import split_highlights, without_marks

from .subject import BEST_MATCH, DOCS, MATCHES, EngineUnderTest

Test = Callable[..., Any]
BY_ID = {str(doc["id"]): doc for doc in DOCS}


def applies_if(condition: Callable[[type["EngineContract"]], bool]) -> Callable[[Test], Test]:
    """Limits a test of the contract to adapters that meet a condition; it is not collected for the others."""

    def decorate(test: Test) -> Test:
        test.applies_if = condition  # type: ignore[attr-defined]
        return test

    return decorate


class EngineContract:
    """One test per rule of `relevancy.engines.Engine`. Subclasses provide the fixture `subject`.

    `key`: the engine's key.
    `rejects_templates`: the engine rejects `subject.rejected_template`.
    `has_id_field`: the engine can be told which field contains the id.
    """

    key: ClassVar[str] = ""
    rejects_templates: ClassVar[bool] = True
    has_id_field: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.key:
            return  # a class that others inherit from
        for name in dir(cls):
            condition = getattr(getattr(cls, name), "applies_if", None)
            if condition is not None and not condition(cls):
                setattr(cls, name, None)

    @classmethod
    def abilities(cls) -> engines.Abilities:
        """Returns what the adapter can do."""
        return engines.get(cls.key).abilities

    @pytest.mark.parametrize("query", MATCHES, ids=lambda query: query[:20].strip())
    def test_search_returns_matching_documents(self, subject: EngineUnderTest, query: str) -> None:
        with subject.connect() as engine:
            page = engine.search(subject.request(query))
        assert {hit.id for hit in page.hits} == set(MATCHES[query])
        assert page.total == len(MATCHES[query])
        if query in BEST_MATCH:
            assert page.hits[0].id == BEST_MATCH[query]

    def test_search_orders_by_score(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            scores = [hit.score for hit in engine.search(subject.request("star wars")).hits]
        if subject.has_scores:
            assert all(isinstance(score, float) and score > 0 for score in scores)
            assert scores == sorted(scores, reverse=True)
        else:
            assert scores == [None, None, None]

    def test_search_is_repeatable(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            assert engine.search(subject.request("star")).hits == engine.search(subject.request("star")).hits

    def test_search_pages(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            all_hits = engine.search(subject.request("star")).hits
            pages = [engine.search(subject.request("star", rows=2, start=start)) for start in (0, 2, 4)]
        assert [len(page.hits) for page in pages] == [2, 1, 0]
        assert (*pages[0].hits, *pages[1].hits) == all_hits
        assert [page.total for page in pages] == [3, 3, 3]

    def test_search_without_rows_counts(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            page = engine.search(subject.request("star", rows=0))
        assert (page.hits, page.total) == ((), 3)

    def test_search_fields(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            hit = engine.search(subject.request("star wars")).hits[0]
        assert hit.fields["title"] == BY_ID["sw"]["title"]
        assert str(hit.fields["year"]) == "1977"
        json.dumps(dict(hit.fields))

    def test_search_all_fields(self, subject: EngineUnderTest) -> None:
        spec = parse_fields("*", subject.fields.id)
        with subject.connect() as engine:
            hit = engine.search(replace(subject.request("star wars"), fields=spec)).hits[0]
        assert {"title", "year", "genres"} <= set(hit.fields)

    def test_search_keeps_punctuation(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            hit = engine.search(subject.request(BY_ID["odd"]["title"])).hits[0]
        assert hit.fields["title"] == BY_ID["odd"]["title"]

    def test_search_highlights(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            plain = engine.search(subject.request("star wars"))
            page = engine.search(subject.request("star wars", highlight=True))
            (many,) = (outcome for _, outcome in engine.search_many([subject.request("star wars", highlight=True)]))
        assert {str(hit.highlights) for hit in plain.hits} == {"{}"}
        assert [(hit.id, hit.score, hit.fields) for hit in page.hits] == [
            (hit.id, hit.score, hit.fields) for hit in plain.hits
        ]
        assert page.total == plain.total
        assert isinstance(many, Page)
        assert many.hits == page.hits
        if self.abilities().highlight:
            assert page.hits[0].highlights["title"] == "\ue000Star\ue001 \ue000Wars\ue001"
            assert all("\ue000Star\ue001" in hit.highlights["title"] for hit in page.hits)
        else:
            assert not any(hit.highlights for hit in page.hits)

    @applies_if(lambda contract: contract.abilities().highlight)
    @pytest.mark.parametrize(("query", "word"), [("prärie", "Prärie"), (BY_ID["odd"]["title"], "hello")])
    def test_search_highlights_are_raw_text_with_marks(self, subject: EngineUnderTest, query: str, word: str) -> None:
        with subject.connect() as engine:
            (hit,) = engine.search(subject.request(query, highlight=True)).hits
        snippet = hit.highlights["title"]
        assert (word, True) in split_highlights(snippet)
        assert ("Falcon", True) not in split_highlights(snippet)
        assert without_marks(snippet) in without_marks(BY_ID[hit.id]["title"])
        assert (
            snippet.count("\ue000")
            == snippet.count("\ue001")
            == sum(highlighted for _, highlighted in split_highlights(snippet))
        )

    @pytest.mark.parametrize(
        "spec", ["title:title year nope genres hl:nope.too media:trailer", "title *", "genres title"]
    )
    def test_search_highlights_displayed_fields(self, subject: EngineUnderTest, spec: str) -> None:
        fields = parse_fields(spec, subject.fields.id)
        with subject.connect() as engine:
            plain = engine.search(replace(subject.request("star 1977"), fields=fields))
            page = engine.search(replace(subject.request("star 1977", highlight=True), fields=fields))
        assert [hit.id for hit in page.hits] == [hit.id for hit in plain.hits]
        highlighted = {name for hit in page.hits for name in hit.highlights}
        if self.abilities().highlight:
            assert "title" in highlighted
            assert highlighted <= {"title", "genres"}
        else:
            assert not highlighted

    def test_search_took_is_milliseconds(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            page = engine.search(subject.request("star"))
        assert isinstance(page.took_ms, int)
        assert 0 <= page.took_ms < 60_000

    def test_rendered_request_is_json_without_credentials(self, subject: EngineUnderTest) -> None:
        secrets = {"username": "reader", "password": "hunter2-secret"}
        with subject.connect(credentials=secrets, headers={"x-tenant-key": "tenant-secret"}) as engine:
            request = subject.request("star")
            rendered = engine.search(request).rendered_request
            assert rendered == engine.render(request)
        assert "secret" not in json.dumps(rendered)
        assert "secret" not in repr(engine.connection)
        assert "star" in json.dumps(rendered)

    @applies_if(lambda contract: contract.rejects_templates)
    def test_search_bad_query_has_the_engines_message(self, subject: EngineUnderTest) -> None:
        assert subject.rejected_template
        with subject.connect() as engine, pytest.raises(BadQuery) as caught:
            engine.search(replace(subject.request("star"), template=subject.rejected_template))
        assert subject.rejection in str(caught.value)

    def test_search_of_a_missing_index(self, subject: EngineUnderTest) -> None:
        with subject.connect(url=subject.missing_url) as engine, pytest.raises(EndpointUnreachable) as caught:
            engine.search(subject.request("star"))
        assert caught.value.hint
        assert subject.missing_url.rpartition("/")[2] in str(caught.value)

    @applies_if(lambda contract: contract.has_id_field)
    def test_search_without_id_field(self, subject: EngineUnderTest) -> None:
        request = replace(subject.request("star"), fields=parse_fields("id:sku title:title", "id"))
        with subject.connect() as engine, pytest.raises(UnreadableResponse) as caught:
            engine.search(request)
        assert "sku" in str(caught.value)
        assert "title" in str(caught.value)

    def test_search_many_yields_each_once(self, subject: EngineUnderTest) -> None:
        queries = [*MATCHES] * 40
        with subject.connect() as engine:
            outcomes = dict(engine.search_many([subject.request(query) for query in queries]))
            single = {query: engine.search(subject.request(query)).hits for query in MATCHES}
        assert sorted(outcomes) == list(range(len(queries)))
        for index, query in enumerate(queries):
            page = outcomes[index]
            assert isinstance(page, Page), page
            assert page.hits == single[query]
            assert page.total == len(MATCHES[query])

    def test_search_many_of_no_request_and_of_one(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            assert list(engine.search_many([])) == []
            ((index, page),) = engine.search_many([subject.request("star")])
        assert index == 0
        assert isinstance(page, Page)

    @applies_if(lambda contract: contract.rejects_templates)
    def test_search_many_continues_after_a_failure(self, subject: EngineUnderTest) -> None:
        assert subject.rejected_template
        requests = [subject.request("star") for _ in range(150)]
        requests[60] = replace(requests[60], template=subject.rejected_template)
        with subject.connect() as engine:
            outcomes = list(engine.search_many(requests))
        assert sorted(index for index, _ in outcomes) == list(range(150))
        failed = {index: outcome for index, outcome in outcomes if isinstance(outcome, EngineError)}
        assert list(failed) == [60]
        assert isinstance(failed[60], BadQuery)
        assert subject.rejection in str(failed[60])

    def test_search_many_stops(self, subject: EngineUnderTest) -> None:
        seen: list[int] = []
        with subject.connect() as engine:
            requests = [subject.request("star") for _ in range(1000)]
            for index, _ in engine.search_many(requests, stop=lambda: len(seen) >= 3):
                seen.append(index)
        assert 3 <= len(seen) < 1000
        assert len(set(seen)) == len(seen)

    def test_search_many_stopped_before_the_first_request(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            assert list(engine.search_many([subject.request("star")] * 3, stop=lambda: True)) == []

    def test_search_many_can_be_abandoned(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            for _index, _page in engine.search_many([subject.request("star")] * 300):
                break
            assert engine.search(subject.request("star")).total == 3

    def test_document_url(self, subject: EngineUnderTest) -> None:
        """Leads to the document where the engine has an address; says nothing of credentials."""
        fields = subject.request("star").fields
        with subject.connect() as engine:
            url = engine.document_url("x, y/z", fields)
        has_address = engine.address.kind == "url" and self.abilities().lookup and self.abilities().explain
        assert bool(url) == has_address
        assert not url or ("x%2C" in url and url.startswith("http") and "@" not in url)

    def test_lookup(self, subject: EngineUnderTest) -> None:
        wanted = ["é-7", "not there", "x, y/z", "sw"]
        with subject.connect() as engine:
            hits = engine.lookup(wanted, subject.fields)
            assert engine.lookup([], subject.fields) == []
        assert [hit.id for hit in hits] == ["é-7", "x, y/z", "sw"]
        assert [hit.fields["title"] for hit in hits] == [BY_ID[hit.id]["title"] for hit in hits]
        assert {hit.score for hit in hits} == {None}

    @applies_if(lambda contract: contract.abilities().explain)
    def test_explain(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            hits = engine.search(subject.request("star wars")).hits
            trees = [engine.explain(subject.request("star wars"), hit.id) for hit in hits]
        for hit, tree in zip(hits, trees, strict=True):
            assert tree["value"] == pytest.approx(hit.score, rel=1e-4)
            assert set(tree) == {"value", "description", "details"}
        assert trees[0]["details"]
        for tree in trees:
            parts = engines.contributions(tree)
            assert sum(part.share for part in parts) == pytest.approx(1)
            assert {part.field for part in parts} == {"title"}
        assert engines.contributions(trees[0])[0].term in ("wars", "war")

    @applies_if(lambda contract: contract.abilities().explain)
    def test_explain_of_a_document_that_does_not_match(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            tree = engine.explain(subject.request("star wars"), "é-7")
            assert (tree["value"], tree["match"]) == (0, False)
            assert bool(engines.failed_clauses(tree)) == engine.abilities.explain_failures
            assert engines.matching_part(tree).value == 0
            with pytest.raises(BadQuery, match="nowhere-at-all"):
                engine.explain(subject.request("star wars"), "nowhere-at-all")

    @applies_if(lambda contract: contract.abilities().explain_many)
    def test_explain_many(self, subject: EngineUnderTest) -> None:
        """The same trees as one by one, whatever the order; without documents that do not match or do not exist."""
        request = subject.request("star wars")
        with subject.connect() as engine:
            hits = engine.search(request).hits
            trees = engine.explain_many(request, [*(hit.id for hit in reversed(hits)), "é-7", "nowhere-at-all"])
            single = {hit.id: engine.explain(request, hit.id) for hit in hits}
        assert len(trees) == len(hits) > 1
        for hit in hits:
            assert trees[hit.id]["value"] == pytest.approx(hit.score, rel=1e-4)
            assert engines.contributions(trees[hit.id]) == engines.contributions(single[hit.id])

    @applies_if(lambda contract: contract.abilities().explain_many)
    def test_explain_many_of_a_query_without_hits(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            assert engine.explain_many(subject.request("xylophone"), ["sw"]) == {}

    @applies_if(lambda contract: contract.abilities().clause_scores)
    def test_clause_scores(self, subject: EngineUnderTest) -> None:
        """The scores that the queries have alone; a query that does not match a document has none there."""
        clauses = {name: subject.clause(query) for name, query in {"both_words": "star wars", "other": "größe"}.items()}
        with subject.connect() as engine:
            assert engine.parse_clause(engine.example_clause)
            scores = engine.clause_scores(clauses, ["é-7", "not there", "x, y/z", "sw", "3"])
            alone = {hit.id: hit.score for hit in engine.search(subject.request("star wars")).hits}
            (cafe,) = engine.search(subject.request("größe")).hits
            assert engine.clause_scores(clauses, []) == {}
        assert {doc_id: set(values) for doc_id, values in scores.items()} == {
            "é-7": {"other"},
            "x, y/z": set(),
            "sw": {"both_words"},
            "3": {"both_words"},
        }
        assert scores["é-7"]["other"] == pytest.approx(cafe.score, rel=1e-4)
        assert scores["sw"]["both_words"] == pytest.approx(alone["sw"], rel=1e-4)
        assert scores["3"]["both_words"] == pytest.approx(alone["3"], rel=1e-4)

    @applies_if(lambda contract: contract.abilities().clause_scores)
    def test_sum_template(self, subject: EngineUnderTest) -> None:
        """The first results are ranked by the weighted sum alone; weights are knobs."""
        clause = engines.WeightedClause("title", subject.clause_text, is_number=False, knob="w_title")
        engine_class = engines.get(self.key)
        text = engine_class.sum_template(subject.template, [clause], window=50)
        template = engines.parse_template(text, engine_class.syntax)
        assert template.knobs == ("w_title",)
        if subject.is_fake:
            return
        with subject.connect() as engine:
            alone = {hit.id: hit.score for hit in engine.search(subject.request("star wars")).hits}
            request = replace(subject.request("star wars", knobs={"w_title": 3}), template=template)
            hits = engine.search(request).hits
        assert {hit.id: hit.score for hit in hits} == {
            doc_id: pytest.approx(3 * score, rel=1e-4) for doc_id, score in alone.items()
        }

    @applies_if(lambda contract: not contract.abilities().clause_scores)
    def test_sum_template_without_the_ability(self, subject: EngineUnderTest) -> None:
        with pytest.raises(UnsupportedByEngine, match="weighted sum"):
            engines.get(self.key).sum_template(subject.template, [], window=50)

    @applies_if(lambda contract: not contract.abilities().clause_scores)
    def test_clause_scores_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="scores of single queries"):
            engine.clause_scores({"title": subject.request("star")}, ["sw"])
        assert not engine.example_clause

    def test_find(self, subject: EngineUnderTest) -> None:
        """With a query of the user's own instead of that of the request, with the same displayed fields and depth."""
        with subject.connect() as engine:
            hits = engine.find("star wars", subject.request("größe", rows=1)).hits
        assert [(hit.id, hit.fields["title"]) for hit in hits] == [("sw", "Star Wars")]

    @applies_if(lambda contract: contract.abilities().interpret)
    def test_interpret(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            interpretation = engine.interpret(subject.request("star wars"))
        parts = dict(interpretation.parts)
        assert "title" in parts["Parsed query"] and "star" in parts["Parsed query"]
        assert interpretation.timings and all(timing.milliseconds >= 0 for timing in interpretation.timings)

    @applies_if(lambda contract: not contract.abilities().interpret)
    def test_interpret_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="does not say how"):
            engine.interpret(subject.request("star wars"))

    @applies_if(lambda contract: not contract.abilities().explain_many)
    def test_explain_many_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="several documents"):
            engine.explain_many(subject.request("star wars"), ["sw"])

    @applies_if(lambda contract: not contract.abilities().explain)
    def test_explain_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="does not explain"):
            engine.explain(subject.request("star wars"), "sw")

    @applies_if(lambda contract: not contract.abilities().load)
    def test_load_documents_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="does not load"):
            engine.load_documents(DOCS)

    @applies_if(lambda contract: contract.abilities().list_queries)
    def test_known_queries(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            queries = set(engine.known_queries())
        assert set(MATCHES) <= queries

    @applies_if(lambda contract: not contract.abilities().list_queries)
    def test_known_queries_without_the_ability(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match="does not list"):
            engine.known_queries()

    def test_fields(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            names = engine.fields()
        assert {"title", "year", "genres"} <= set(names)
        assert names == sorted(names)

    def test_version(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            assert re.fullmatch(subject.version_pattern, engine.version())

    def test_version_of_a_missing_index(self, subject: EngineUnderTest) -> None:
        with subject.connect(url=subject.missing_url) as engine, pytest.raises(EndpointUnreachable):
            engine.version()

    def test_abort_without_requests(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine:
            engine.search(subject.request("star"))
            engine.abort()
            engine.abort()

    def test_close_twice(self, subject: EngineUnderTest) -> None:
        engine = subject.connect()
        engine.search(subject.request("star"))
        engine.close()
        engine.close()
