"""Presets of the engine `http`: how requests are sent to well-known search APIs, and where the results are in their responses.

Each follows the API's own documentation, which is named with it. Keys are never part of a preset.
"""

from relevancy.engines.types import Preset

PRESETS: tuple[Preset, ...] = (
    Preset(
        key="vespa",
        label="Vespa",
        address="https://vespa.example.com/search/",
        options={
            "method": "POST",
            "template": '{\n  "yql": "select * from sources * where userQuery()",\n  "query": "#$query##"\n}',
            # Without results there are no children; groups are children without fields.
            "hits": "root && not_null(root.children[?fields], `[]`)",
            "id": "fields.documentid || id",
            "document": "fields",
            "total": "root.fields.totalCount",
            "score": "relevance",
            # Vespa sends status 200 if only a part of the content nodes failed or timed out.
            "error": "root.errors[0]",
            "rows_parameter": "hits",
            "start_parameter": "offset",
        },
        credential="Vespa Cloud: a token as the bearer token. Client certificates are not supported.",
        notes=(
            "Ids such as index:products/0/a1b2… change when documents are moved: use a document summary that contains documentid.",
            "The total is not exact with nearestNeighbor, wand and weakAnd.",
        ),
        source="https://docs.vespa.ai/en/reference/default-result-format.html",
    ),
    Preset(
        key="qdrant",
        label="Qdrant",
        address="https://qdrant.example.com:6333/collections/products/points/query",
        options={
            "method": "POST",
            "template": (
                '{\n  "query": {"text": "#$query##", "model": "sentence-transformers/all-MiniLM-L6-v2"},\n'
                '  "with_payload": true\n}'
            ),
            "hits": "result.points",
            "id": "id",
            "document": "payload || `{}`",
            "score": "score",
            "error": "status.error",
            "rows_parameter": "limit",
            "start_parameter": "offset",
        },
        headers=("api-key",),
        notes=(
            "The server must compute the vector of the query: replace the model by the one that the collection was made with.",
            "There is no total: a vector search finds as many documents as are asked for.",
        ),
        source="https://api.qdrant.tech/api-reference/search/query-points",
    ),
    Preset(
        key="algolia",
        label="Algolia",
        address="https://APPLICATION-dsn.algolia.net/1/indexes/products/query",
        options={
            "method": "POST",
            # Searches of a test must not count in Algolia's own statistics.
            "template": (
                '{\n  "query": "#$query##",\n  "analytics": false,\n  "attributesToHighlight": [],\n  "attributesToSnippet": []\n}'
            ),
            "hits": "hits",
            "id": "objectID",
            "total": "nbHits",
            "rows_parameter": "hitsPerPage",
        },
        headers=("X-Algolia-Application-Id", "X-Algolia-API-Key"),
        notes=("Enter a key that may only search.", "A query can have 512 characters."),
        source="https://www.algolia.com/doc/rest-api/search/search-single-index",
    ),
    Preset(
        key="typesense",
        label="Typesense",
        address="https://typesense.example.com:8108/collections/products/documents/search",
        options={
            "method": "GET",
            "template": "q=#$query##\nquery_by=title",
            "hits": "hits",
            "id": "document.id",
            "document": "document",
            "total": "found",
            "score": "text_match",
            "rows_parameter": "per_page",
        },
        headers=("X-TYPESENSE-API-KEY",),
        notes=(
            "Write the fields that are searched after query_by, separated by commas.",
            "With group_by, the hits are in groups: write grouped_hits[].hits[] as the list of hits.",
        ),
        source="https://typesense.org/docs/26.0/api/search.html",
    ),
    Preset(
        key="meilisearch",
        label="Meilisearch",
        address="https://meilisearch.example.com/indexes/products/search",
        options={
            "method": "POST",
            "template": '{\n  "q": "#$query##",\n  "showRankingScore": true\n}',
            "hits": "hits",
            "id": "id",
            "total": "not_null(estimatedTotalHits, totalHits)",
            "score": "_rankingScore",
            "rows_parameter": "limit",
            "start_parameter": "offset",
        },
        credential="A search key as the bearer token.",
        notes=(
            "If the primary key of the index is not id, write its name as the document id.",
            "The total is an estimate.",
        ),
        source="https://www.meilisearch.com/docs/reference/api/search",
    ),
    Preset(
        key="vectara",
        label="Vectara",
        address="https://api.vectara.io/v2/corpora/products/query",
        options={
            "method": "POST",
            "template": '{\n  "query": "#$query##",\n  "search": {}\n}',
            "hits": "search_results",
            "id": "document_id",
            "document": "merge(part_metadata || `{}`, document_metadata || `{}`, {text: text})",
            "score": "score",
            "rows_parameter": "search.limit",
            "start_parameter": "search.offset",
        },
        headers=("x-api-key",),
        notes=(
            "A result is a part of a document: a document can be found several times, under the same id.",
            "There is no total.",
        ),
        source="https://docs.vectara.com/docs/rest-api/search-corpus",
    ),
    Preset(
        key="quepid",
        label="Search API of Quepid (mapper script)",
        address="https://shop.example.com/api/search",
        options={
            "method": "GET",
            "template": "q=#$query##",
            "mapper": (
                "// Both functions get the response: an object if it is JSON, otherwise text.\n"
                "numberOfResultsMapper = function (data) {\n  return data.total;\n};\n"
                "docsMapper = function (data) {\n"
                "  return data.results.map(function (result) {\n"
                "    return { id: result.id, title: result.title };\n"
                "  });\n};\n"
            ),
        },
        notes=("Replace the script by the mapper code of the search endpoint in Quepid.",),
        source="https://github.com/o19s/quepid",
    ),
)
