"""What every engine adapter must do. Classes that inherit from `EngineContract` provide the fixture `stand`."""

import json
import re
from dataclasses import replace

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, EndpointUnreachable, EngineError, Page, UnreadableAnswer, parse_fields
from relevancy.engines.marks import without_marks

from .stand import DOCS, FIRST, MATCHES, Stand

BY_ID = {str(doc["id"]): doc for doc in DOCS}


class EngineContract:
    """One test per promise of `relevancy.engines.Engine`."""

    @pytest.mark.parametrize("query", MATCHES, ids=lambda query: query[:20].strip())
    def test_search_finds_what_matches(self, stand: Stand, query: str) -> None:
        with stand.open() as engine:
            page = engine.search(stand.ask(query))
        assert {hit.id for hit in page.hits} == set(MATCHES[query])
        assert page.total == len(MATCHES[query])
        if query in FIRST:
            assert page.hits[0].id == FIRST[query]

    def test_search_orders_by_score(self, stand: Stand) -> None:
        with stand.open() as engine:
            scores = [hit.score for hit in engine.search(stand.ask("star wars")).hits]
        if stand.scored:
            assert all(isinstance(score, float) and score > 0 for score in scores)
            assert scores == sorted(scores, reverse=True)
        else:
            assert scores == [None, None, None]

    def test_search_gives_the_same_twice(self, stand: Stand) -> None:
        with stand.open() as engine:
            assert engine.search(stand.ask("star")).hits == engine.search(stand.ask("star")).hits

    def test_search_pages(self, stand: Stand) -> None:
        with stand.open() as engine:
            whole = engine.search(stand.ask("star")).hits
            pages = [engine.search(stand.ask("star", rows=2, start=start)) for start in (0, 2, 4)]
        assert [len(page.hits) for page in pages] == [2, 1, 0]
        assert (*pages[0].hits, *pages[1].hits) == whole
        assert [page.total for page in pages] == [3, 3, 3]

    def test_search_without_rows_counts(self, stand: Stand) -> None:
        with stand.open() as engine:
            page = engine.search(stand.ask("star", rows=0))
        assert (page.hits, page.total) == ((), 3)

    def test_search_fields(self, stand: Stand) -> None:
        with stand.open() as engine:
            hit = engine.search(stand.ask("star wars")).hits[0]
        assert hit.fields["title"] == BY_ID["sw"]["title"]
        assert str(hit.fields["year"]) == "1977"
        json.dumps(dict(hit.fields))

    def test_search_all_fields(self, stand: Stand) -> None:
        spec = parse_fields("*", stand.fields.id)
        with stand.open() as engine:
            hit = engine.search(replace(stand.ask("star wars"), fields=spec)).hits[0]
        assert {"title", "year", "genres"} <= set(hit.fields)

    def test_search_keeps_text_as_it_is(self, stand: Stand) -> None:
        with stand.open() as engine:
            hit = engine.search(stand.ask(BY_ID["odd"]["title"])).hits[0]
        assert hit.fields["title"] == BY_ID["odd"]["title"]

    def test_search_highlights(self, stand: Stand) -> None:
        with stand.open() as engine:
            plain = engine.search(stand.ask("star wars"))
            page = engine.search(stand.ask("star wars", highlight=True))
            (many,) = (outcome for _, outcome in engine.search_many([stand.ask("star wars", highlight=True)]))
        assert {str(hit.highlights) for hit in plain.hits} == {"{}"}
        assert [(hit.id, hit.score, hit.fields) for hit in page.hits] == [
            (hit.id, hit.score, hit.fields) for hit in plain.hits
        ]
        assert page.total == plain.total
        assert isinstance(many, Page)
        assert many.hits == page.hits
        if engine.abilities.highlight:
            assert page.hits[0].highlights["title"] == "\ue000Star\ue001 \ue000Wars\ue001"
            assert all("\ue000Star\ue001" in hit.highlights["title"] for hit in page.hits)
        else:
            assert not any(hit.highlights for hit in page.hits)

    @pytest.mark.parametrize(("query", "word"), [("prärie", "Prärie"), (BY_ID["odd"]["title"], "hello")])
    def test_search_highlights_keep_text_raw_but_for_marks(self, stand: Stand, query: str, word: str) -> None:
        with stand.open() as engine:
            (hit,) = engine.search(stand.ask(query, highlight=True)).hits
            if not engine.abilities.highlight:
                return
        snippet = hit.highlights["title"]
        assert (word, True) in engines.pieces(snippet)
        assert ("Falcon", True) not in engines.pieces(snippet)
        assert without_marks(snippet) in without_marks(BY_ID[hit.id]["title"])
        assert snippet.count("\ue000") == snippet.count("\ue001") == sum(mark for _, mark in engines.pieces(snippet))

    @pytest.mark.parametrize(
        "spec", ["title:title year nope genres hl:nope.too media:trailer", "title *", "genres title"]
    )
    def test_search_highlights_whatever_is_displayed(self, stand: Stand, spec: str) -> None:
        fields = parse_fields(spec, stand.fields.id)
        with stand.open() as engine:
            plain = engine.search(replace(stand.ask("star 1977"), fields=fields))
            page = engine.search(replace(stand.ask("star 1977", highlight=True), fields=fields))
        assert [hit.id for hit in page.hits] == [hit.id for hit in plain.hits]
        if engine.abilities.highlight:
            assert any("title" in hit.highlights for hit in page.hits)
            assert {name for hit in page.hits for name in hit.highlights} <= {"title", "genres"}

    def test_search_took_is_milliseconds(self, stand: Stand) -> None:
        with stand.open() as engine:
            page = engine.search(stand.ask("star"))
        assert isinstance(page.took_ms, int)
        assert 0 <= page.took_ms < 60_000

    def test_sent_is_json_without_credentials(self, stand: Stand) -> None:
        secrets = {"username": "reader", "password": "hunter2-secret"}
        with stand.open(credentials=secrets, headers={"x-tenant-key": "tenant-secret"}) as engine:
            request = stand.ask("star")
            sent = engine.search(request).sent
            assert sent == engine.render(request)
        assert "secret" not in json.dumps(sent)
        assert "secret" not in repr(engine.connection)
        assert "star" in json.dumps(sent)

    def test_search_bad_query_has_the_engines_words(self, stand: Stand) -> None:
        if stand.bad is None:
            assert not stand.scored
            return
        with stand.open() as engine, pytest.raises(BadQuery) as caught:
            engine.search(replace(stand.ask("star"), template=stand.bad))
        assert stand.bad_words in str(caught.value)

    def test_search_where_nothing_is(self, stand: Stand) -> None:
        with stand.open(url=stand.missing) as engine, pytest.raises(EndpointUnreachable) as caught:
            engine.search(stand.ask("star"))
        assert caught.value.todo
        assert stand.missing.rpartition("/")[2] in str(caught.value)

    def test_search_without_id_field(self, stand: Stand) -> None:
        if stand.connection.engine == "static":
            return  # a file of rankings is nothing but ids
        request = replace(stand.ask("star"), fields=parse_fields("id:sku title:title", "id"))
        with stand.open() as engine, pytest.raises(UnreadableAnswer) as caught:
            engine.search(request)
        assert "sku" in str(caught.value)
        assert "title" in str(caught.value)

    def test_search_many_yields_each_once(self, stand: Stand) -> None:
        queries = [*MATCHES] * 40
        with stand.open() as engine:
            outcomes = dict(engine.search_many([stand.ask(query) for query in queries]))
            single = {query: engine.search(stand.ask(query)).hits for query in MATCHES}
        assert sorted(outcomes) == list(range(len(queries)))
        for index, query in enumerate(queries):
            page = outcomes[index]
            assert isinstance(page, Page), page
            assert page.hits == single[query]
            assert page.total == len(MATCHES[query])

    def test_search_many_of_nothing_and_of_one(self, stand: Stand) -> None:
        with stand.open() as engine:
            assert list(engine.search_many([])) == []
            ((index, page),) = engine.search_many([stand.ask("star")])
        assert index == 0
        assert isinstance(page, Page)

    def test_search_many_goes_on_after_a_failure(self, stand: Stand) -> None:
        if stand.bad is None:
            return
        requests = [stand.ask("star") for _ in range(150)]
        requests[60] = replace(requests[60], template=stand.bad)
        with stand.open() as engine:
            outcomes = list(engine.search_many(requests))
        assert sorted(index for index, _ in outcomes) == list(range(150))
        failed = {index: outcome for index, outcome in outcomes if isinstance(outcome, EngineError)}
        assert list(failed) == [60]
        assert isinstance(failed[60], BadQuery)
        assert stand.bad_words in str(failed[60])

    def test_search_many_stops(self, stand: Stand) -> None:
        seen: list[int] = []
        with stand.open() as engine:
            requests = [stand.ask("star") for _ in range(1000)]
            for index, _ in engine.search_many(requests, stop=lambda: len(seen) >= 3):
                seen.append(index)
        assert 3 <= len(seen) < 1000
        assert len(set(seen)) == len(seen)

    def test_search_many_stopped_before_it_began(self, stand: Stand) -> None:
        with stand.open() as engine:
            assert list(engine.search_many([stand.ask("star")] * 3, stop=lambda: True)) == []

    def test_search_many_may_be_left(self, stand: Stand) -> None:
        with stand.open() as engine:
            for _index, _page in engine.search_many([stand.ask("star")] * 300):
                break
            assert engine.search(stand.ask("star")).total == 3

    def test_lookup(self, stand: Stand) -> None:
        wanted = ["é-7", "not there", "x, y/z", "sw"]
        with stand.open() as engine:
            hits = engine.lookup(wanted, stand.fields)
            assert engine.lookup([], stand.fields) == []
        assert [hit.id for hit in hits] == ["é-7", "x, y/z", "sw"]
        assert [hit.fields["title"] for hit in hits] == [BY_ID[hit.id]["title"] for hit in hits]
        assert {hit.score for hit in hits} == {None}

    def test_explain(self, stand: Stand) -> None:
        with stand.open() as engine:
            hits = engine.search(stand.ask("star wars")).hits
            if not engine.abilities.explain:
                with pytest.raises(BadQuery):
                    engine.explain(stand.ask("star wars"), "sw")
                return
            trees = [engine.explain(stand.ask("star wars"), hit.id) for hit in hits]
        for hit, tree in zip(hits, trees, strict=True):
            assert tree["value"] == pytest.approx(hit.score, rel=1e-4)
            assert set(tree) == {"value", "description", "details"}
        assert trees[0]["details"]
        for tree in trees:
            parts = engines.explaining.contributions(tree)
            assert sum(part.share for part in parts) == pytest.approx(1)
            assert {part.field for part in parts} == {"title"}
        assert engines.explaining.contributions(trees[0])[0].term in ("wars", "war")

    def test_explain_of_what_does_not_match(self, stand: Stand) -> None:
        with stand.open() as engine:
            if not engine.abilities.explain:
                return
            assert engine.explain(stand.ask("star wars"), "é-7")["value"] == 0
            with pytest.raises(BadQuery, match="nowhere-at-all"):
                engine.explain(stand.ask("star wars"), "nowhere-at-all")

    def test_fields(self, stand: Stand) -> None:
        with stand.open() as engine:
            names = engine.fields()
        assert {"title", "year", "genres"} <= set(names)
        assert names == sorted(names)

    def test_version(self, stand: Stand) -> None:
        with stand.open() as engine:
            assert re.fullmatch(stand.version, engine.version())

    def test_version_where_nothing_is(self, stand: Stand) -> None:
        with stand.open(url=stand.missing) as engine, pytest.raises(EndpointUnreachable):
            engine.version()

    def test_close_twice(self, stand: Stand) -> None:
        engine = stand.open()
        engine.search(stand.ask("star"))
        engine.close()
        engine.close()
