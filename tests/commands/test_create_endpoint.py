"""`create_endpoint` with a preset."""

import pytest

from relevancy.models import Endpoint

from .test_commands import command, refused, shop

__all__ = ["shop"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
ADDRESS = "http://127.0.0.1:9/indexes/films/search"


def test_preset_with_options_of_ones_own() -> None:
    output = command(
        "create_endpoint", "films", "http", ADDRESS, "--option", "id=sku", "--option", "preset=meilisearch",
        "--option", "total=", "--option", "bearer=secret",
    )  # fmt: skip
    endpoint = Endpoint.objects.get(name="films")
    assert endpoint.options["hits"] == "hits"
    assert endpoint.options["id"] == "sku"
    assert endpoint.options["total"] == ""
    assert "preset" not in endpoint.options
    assert endpoint.credentials == {"bearer": "secret"}
    assert "Meilisearch: " in output


def test_unknown_preset() -> None:
    message = refused("create_endpoint", "films", "http", ADDRESS, "--option", "preset=sphinx")
    assert "no preset “sphinx”. Its presets: vespa, qdrant" in message
    assert "It has none" in refused("create_endpoint", "a", "solr", ADDRESS, "--option", "preset=vespa")
    assert not Endpoint.objects.filter(engine="http").exists()
